"""Forms of loops: models that prefer some of them, and Model.kernels().

Only a program that asks for either imports this. A model keeps nothing for it but its source:
kernels() reads that once more, and prepares each step again in the model's own arena, one after
another. Preparing writes to no tensor. forms.order and forms.get, by which kernels find loops, are
replaced while steps are prepared, and restored after it.
"""

from .. import forms
from ..build.loader import Loader
from ..build.reader import Reader
from ..errors import InputError
from ..turn import SHORT, fresh


def kernels(model):
    """Return a list of (step, kernel, forms) in the order of the file.

    step: its number, as '3'; '3/0' is a step in a body of step 3. forms: a dict of the families of
    loops that the kernel took, with the form of each ('plain', 'viper', ...); empty for a step
    whose shapes a run decides, which takes them in that run.
    """
    try:
        return Listing(model).rows
    except MemoryError:
        raise fresh(SHORT)


class Preferring(Loader):
    """Load a model with loops in preferred forms where these exist.

    prefer: names of forms, or one name. They come first in forms.order while the steps are
    prepared.
    """

    def __init__(self, reader, arena, prefer):
        self.prefer = prefer
        names = (prefer,) if isinstance(prefer, str) else prefer
        if not isinstance(names, (list, tuple)):
            raise InputError("prefer: names of forms are needed")
        self._order = tuple([form for form in names if form in forms.order]) + forms.order
        default, forms.order = forms.order, self._order
        try:
            Loader.__init__(self, reader, arena)
        finally:
            forms.order = default

    def _prepare(self, reader, index, node):
        n, step = Loader._prepare(self, reader, index, node)
        if n and self.runtime:
            step = _Ordered(self._order, step).step
        return n, step


class _Ordered:
    """A step whose shapes a run decides: it takes its loops in the run, in this order of forms."""

    def __init__(self, order, inner):
        self.order, self.inner = order, inner

    def step(self, lo, hi):
        default, forms.order = forms.order, self.order
        try:
            self.inner(lo, hi)
        finally:
            forms.order = default


class Listing(Preferring):
    """Prepare the steps of a model once more to list the families of loops that they take.

    A replacement of forms.get notes each family that is looked up.

    Attributes:
        rows: a list of (step, kernel, forms), as kernels() returns it.
        steps: for each entry of the model's own list of steps its (index in rows, reads_weights);
            reads_weights is True for an entry that only reads streamed weights.
        bodies: the same lists for each body.
        chunk: returns the bytes of a chunk whose kind is in `extra`.
    """

    def __init__(self, model, extra=()):
        self.rows = []
        self._taken = []  # of the graph, of the body that is being read, of one in it
        self._path = []
        self._families = []
        get = forms.get

        def noting(name, form=None):
            if name not in forms.OWN:
                self._families.append(name)
            return get(name, form)

        streams = model._stream is not None
        reader = Reader(model._origin, False, extra=extra, stream=streams)
        self.chunk = reader.chunk
        forms.get = noting
        try:
            Preferring.__init__(self, reader, model._arena, model._prefer)
        finally:
            forms.get = get
            if reader.stream:
                reader.stream.close()

    def _prepare_all(self, reader, body=None):
        self._taken.append([])
        Preferring._prepare_all(self, reader, body)
        taken = self._taken.pop()
        if body:
            self.bodies[-1] = taken
        return taken

    def _prepare(self, reader, index, node):
        """Prepare the step, note the loops that it takes, and drop it."""
        self._path.append(str(index))
        at = len(self.rows)
        self.rows.append(None)  # its place is before the steps of its bodies
        n, _ = Loader._prepare(self, reader, index, node)
        taken = {name: _form_of(name) for name in self._families}
        self.rows[at] = ("/".join(self._path), node[0], taken)
        self._families.clear()
        self._path.pop()
        if self.stream:
            self._taken[-1] += [(at, True)] * len(node[-1])
        if n:
            self._taken[-1].append((at, False))
        return 0, None


def _form_of(name):
    """Return the form in which a family was found. Look no further: each look imports a module."""
    for form in forms.order:
        if forms.find(name, form):
            return form
