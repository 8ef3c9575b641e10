"""scales: products of float32 with a factor known only at run time, without float arithmetic.

    out[i] = x[0] * w[i]

Serves mpconnxr:Scale: scales of weights times the scale of a dynamic quantization.

    x    float32, one element;  w, out  float32, equal sizes
Rounded half to even. Denormal results become 0; overflow gives inf. Raises ModelError.
"""

from .. import forms
from ..blocks import block

# params: none

CALLS = True
STREAMS = (1,)


def prepare(node, calls):
    node.expect(2, 1, 0)
    x, w, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.expect_dtype("float32", x, w, out)
    node.require(x.nelem == 1 and w.nelem == out.nelem, "sizes differ")
    n = w.nelem
    if n == 0:
        return
    x, w, out = calls.place(x, "i"), calls.place(w, "i"), calls.place(out, "i")
    p = block("scales", x_start=0, elements=n, magnitude_mask=0x7FFFFFFF)
    calls.call(forms.get("scales").scales32, x, w, out, p)
