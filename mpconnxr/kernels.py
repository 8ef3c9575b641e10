"""Which kernels a loaded model runs, and in which form their loops: what Model.kernels() gives.

Nothing of it is kept while a model runs. It is found out by preparing every step once more, one
after another, in the model's own arena: preparing writes to none of its tensors.
"""

from . import forms
from .model import Model
from .reader import Reader


class Listing(Model):
    """found: a list of (step, kernel, forms), as Model.kernels says."""

    def __init__(self, source, arena, prefer):
        self.found = []
        self._path = []
        forms.used = []
        try:
            Model.__init__(self, Reader(source, False), arena, prefer)
        finally:
            forms.used = None

    def _prepare(self, reader, index, node):
        """Prepares the step, notes what loops it took, and forgets it."""
        self._path.append(str(index))
        at = len(self.found)
        self.found.append(None)  # its place is before the steps of its bodies
        Model._prepare(self, reader, index, node)
        taken = {name: forms.form_of(name) for name in forms.used}
        self.found[at] = ("/".join(self._path), node[0], taken)
        forms.used.clear()
        self._path.pop()
        return 0, None
