"""Forms of loops: models that prefer some of them, and what Model.kernels() gives.

Only a program that asks for either imports this. A model keeps nothing for it but its source:
kernels() reads that once more, and prepares each step again in the model's own arena, one after
another. Preparing writes to no tensor.
"""

from . import forms
from .model import Model
from .reader import Reader


class Preferring(Model):
    """A model that takes its loops in these forms (names, or one name) where they exist."""

    def __init__(self, reader, arena, prefer):
        self._prefer = prefer
        wanted = (prefer,) if isinstance(prefer, str) else prefer
        self._order = tuple([form for form in wanted if form in forms.order]) + forms.order
        self._ordered(Model.__init__, reader, arena)

    def run(self, x=None):
        """As Model.run: steps whose shapes a run decides take their loops in it."""
        return self._ordered(Model.run, x)

    def _ordered(self, method, *args):
        usual, forms.order = forms.order, self._order
        try:
            return method(self, *args)
        finally:
            forms.order = usual


class Listing(Preferring):
    """found: a list of (step, kernel, forms), as Model.kernels says."""

    def __init__(self, source, arena, prefer, stream):
        self.found = []
        self._path = []
        self._families = []
        get = forms.get

        def noting(name, form=None):
            self._families.append(name)
            return get(name, form)

        forms.get = noting
        try:
            Preferring.__init__(self, Reader(source, False, stream=stream), arena, prefer)
        finally:
            forms.get = get

    def _prepare(self, reader, index, node):
        """Prepares the step, notes what loops it took, and forgets it."""
        self._path.append(str(index))
        at = len(self.found)
        self.found.append(None)  # its place is before the steps of its bodies
        Model._prepare(self, reader, index, node)
        taken = {name: _form_of(name) for name in self._families}
        self.found[at] = ("/".join(self._path), node[0], taken)
        self._families.clear()
        self._path.pop()
        return 0, None


def _form_of(name):
    """The form in which a family is taken now."""
    here = forms.available(name)
    for form in forms.order:
        if form in here:
            return form
