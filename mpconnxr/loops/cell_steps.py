"""The cell of an LSTM, by calls of loops/cell. Written once, for Python and viper.

step     the gates, the new states and h, of sums that are there
of_sums  the same, of sums over x and over h that are still to be added. If one of them is inf or
         nan, or a state is, loops/cell_special does it.

p    of of_sums, in word 0: the exponent of what is not finite
"""


def step(p: ptr32, w):
    """w: loops squash, state, product; their parameters, those of squash for the gates and for
    new states; the scratch, and tanh of new states there

    Access: of the loops it calls
    """
    squash, state, product, gates_p, state_p = w[:5]
    tanh_p, product_p, x, tanh = w[5], w[6], w[7], w[8]
    squash(x, x, x, gates_p)
    state(x, x, x, state_p)
    squash(x, x, x, tanh_p)
    product(x, tanh, x, product_p)


def of_sums(p: ptr32, w):
    """w: as of step; then loops peak, add, step, and what computes with floats; p; the parameters
    of peak, which writes p[0], and of add; the scratch as floats

    Access: of the loops it calls
    """
    x, peak, add, step, special = w[7], w[9], w[10], w[11], w[12]
    whole, peak_p, add_p, floats = w[13], w[14], w[15], w[16]
    peak(x, x, whole, peak_p)
    if p[0] == 255:
        special(whole, w)
    else:
        add(floats, floats, floats, add_p)
        step(whole, w)
