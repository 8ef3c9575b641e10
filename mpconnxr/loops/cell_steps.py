"""The cell of an LSTM, by calls of loops/cell. Written once, for Python and viper.

step     the gates, the new states and h, of sums that are there
of_sums  the same, of sums over x and over h that are still to be added. If one of them is inf or
         nan, or a state is, loops/cell_special does it.

p    of of_sums, in word 0: the exponent of what is not finite

Made from tools/loops/common/cell_steps.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def step(p: ptr32, w):
    """w: loops squash, state, product; their parameters, those of squash for the gates and for
    new states; the scratch, and tanh of new states there

    Access: of the loops it calls
    """
    squash = w[0]
    state = w[1]
    product = w[2]
    gates_p = w[3]
    state_p = w[4]
    tanh_p = w[5]
    product_p = w[6]
    x = w[7]
    tanh = w[8]
    squash(x, x, x, gates_p)
    state(x, x, x, state_p)
    squash(x, x, x, tanh_p)
    product(x, tanh, x, product_p)


@micropython.viper
def of_sums(p: ptr32, w):
    """w: as of step; then loops peak, add, step, and what computes with floats; p; the parameters
    of peak, which writes p[0], and of add; the scratch as floats

    Access: of the loops it calls
    """
    x = w[7]
    peak = w[9]
    add = w[10]
    step = w[11]
    special = w[12]
    whole = w[13]
    peak_p = w[14]
    add_p = w[15]
    floats = w[16]
    peak(x, x, whole, peak_p)
    if p[0] == 255:
        special(whole, w)
    else:
        add(floats, floats, floats, add_p)
        step(whole, w)
