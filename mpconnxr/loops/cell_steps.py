"""The cell of an LSTM, by calls of loops/cell.

A time step in which a sum or a state is inf or NaN is left to loops/cell_special.
"""

# Parameters of step, of_sums
_EXPONENT = const(0)  # of the largest sum or state, set by block.peak [exponent] 0..255
_PEAK_X_START = 1  # parameters of block.peak: start [elements] 0..
_PEAK_ELEMENTS = 2  # [elements] 0..
_PEAK_OUT_START = const(3)  # [elements] 0
_ADD = 4  # parameters of add.add32 [words x 10]
_GATES_X_START = 14  # parameters of cell.squash for gates: start [elements] 0..
_GATES_ELEMENTS = const(15)  # [elements] 1..
_GATES_OUT_START = const(16)  # [elements] 0..
_GATES_TANH_START = const(17)  # [elements] 0..
_STATE_X_START = 18  # parameters of cell.state: start [elements] 0..
_STATE_ELEMENTS = const(19)  # [elements] 1..
_STATE_OUT_START = 20  # start of c [elements] 0..
_STATE_MASK = const(21)  # [mask] 2**31 - 1
_TANH_X_START = 22  # parameters of cell.squash for new states: start [elements] 0..
_TANH_ELEMENTS = const(23)  # [elements] 1..
_TANH_OUT_START = const(24)  # [elements] 0..
_TANH_TANH_START = const(25)  # [elements] 0
_PRODUCT_X_START = 26  # parameters of cell.product: start [elements] 0..
_PRODUCT_ELEMENTS = const(27)  # [elements] 1..
_PRODUCT_OUT_START = 28  # start of h [elements] 0..
_PRODUCT_MASK = const(29)  # [mask] 2**31 - 1


def step(p: ptr32, w):
    """Compute gates, new states and h from sums.

    w lists loops squash, state, product; the parts of p for squash of gates, state, squash of new
    states, and product; the scratch, and a view of it at tanh of the new states.

    Access: of the loops it calls
    """
    squash, state, product, gates_p, state_p = w[:5]
    tanh_p, product_p, x, tanh = w[5], w[6], w[7], w[8]
    squash(x, x, x, gates_p)
    state(x, x, x, state_p)
    squash(x, x, x, tanh_p)
    product(x, tanh, x, product_p)


def of_sums(p: ptr32, w):
    """Add the sums over the input and over h, then call step.

    w as for step; then loops peak, add, step, and the rare loop; p; the parts of p for peak and
    add; the scratch as floats. peak writes the exponent.

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
