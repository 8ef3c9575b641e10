"""given: number of present input tensors, or whether there are any.

Serves SequenceLength and OptionalHasElement (all opsets): in the model file, a sequence is a list
of tensors and an optional is one tensor or none.

    inputs   any number, of any dtype
    out      int64 (1): number of inputs; or bool (1): True if there are any
Raises ModelError. A step allocates nothing.
"""

# params: none

OBJECTS = True  # inputs may be strings and maps


def prepare(node):
    n = len(node.inputs)
    node.expect(n, 1, 0)
    out = node.outputs[0]
    node.require(out.dtype in ("int64", "bool") and out.nelem == 1, "output")
    return 1, _Kept(out.data, n if out.dtype == "int64" else int(n > 0)).step


class _Kept:
    def __init__(self, out, value):
        self.out, self.value = out, value

    def step(self, lo, hi):
        self.out[0] = self.value
