"""The cell of an LSTM, by calls of loops/cell. Written once, for Python and viper.

If a sum or a state is inf or NaN, loops/cell_special computes the step.
"""

# Parameters of step, of_sums
_EXPONENT = const(0)  # of the largest sum or state, as block.peak gives it [exponent] 0..255
_PEAK_X_START = 1  # what block.peak takes [elements] 0..
_PEAK_ELEMENTS = 2  # [elements] 0..
_PEAK_OUT_START = const(3)  # [elements] 0
_ADD = 4  # what add.add32 takes [words x 10]
_GATES_X_START = 14  # what cell.squash takes for gates [elements] 0..
_GATES_ELEMENTS = const(15)  # [elements] 1..
_GATES_OUT_START = const(16)  # [elements] 0..
_GATES_TANH_START = const(17)  # [elements] 0..
_STATE_X_START = 18  # what cell.state takes [elements] 0..
_STATE_ELEMENTS = const(19)  # [elements] 1..
_STATE_OUT_START = 20  # where c lies [elements] 0..
_STATE_MASK = const(21)  # [mask] 2**31 - 1
_TANH_X_START = 22  # what cell.squash takes for new states [elements] 0..
_TANH_ELEMENTS = const(23)  # [elements] 1..
_TANH_OUT_START = const(24)  # [elements] 0..
_TANH_TANH_START = const(25)  # [elements] 0
_PRODUCT_X_START = 26  # what cell.product takes [elements] 0..
_PRODUCT_ELEMENTS = const(27)  # [elements] 1..
_PRODUCT_OUT_START = 28  # where h lies [elements] 0..
_PRODUCT_MASK = const(29)  # [mask] 2**31 - 1


def step(p: ptr32, w):
    """Make gates, new states and h of sums.

    w: loops squash, state, product; the parts of p that squash takes for gates, state, squash for
    new states, and product; the scratch, and tanh of new states in it

    Access: of the loops it calls
    """
    squash, state, product, gates_p, state_p = w[:5]
    tanh_p, product_p, x, tanh = w[5], w[6], w[7], w[8]
    squash(x, x, x, gates_p)
    state(x, x, x, state_p)
    squash(x, x, x, tanh_p)
    product(x, tanh, x, product_p)


def of_sums(p: ptr32, w):
    """Add sums over the input and over h, then do the same.

    w: as of step; then loops peak, add, step, and what computes with floats; p; the parts of p
    that peak and add take; the scratch as floats. peak writes the exponent.

    Access: of the loops it calls
    """
    x, peak, add, step, special = w[7], w[9], w[10], w[11], w[12]
    whole, peak_p, add_p, floats = w[13], w[14], w[15], w[16]
    peak(x, x, whole, peak_p)
    if p[_EXPONENT] == 255:
        special(whole, w)
    else:
        add(floats, floats, floats, add_p)
        step(whole, w)
