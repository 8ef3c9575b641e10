"""Load a model with its kernels. Only mpconnxr.load needs this module; it is dropped after it."""

import gc
import sys

from .. import forms
from ..opening import forget

# While a model is loaded the heap is collected whenever so many bytes were allocated. Otherwise
# the model's objects would lie between garbage everywhere, and leave no large piece. Where more
# than _PLENTY is free collecting takes longer; the threshold is then a quarter of the rest.
_GARBAGE = const(10240)
_PLENTY = const(262144)
# Modules that only loading needs, a quarter of the code. A room comes after its modules.
LOADING = (
    "opening arena build.load build.loader build.reader build.records build.graph build.numbers "
    "build.grids build.node build.source build.written build.calls build.emission build.repeats "
    "build.held build.seal build"
)
# Modules that kernels and Tensors need, but no table of calls: see _let_go.
_OF_KERNELS = "forms parameters tensor ops"


def load(source, verify, arena, prefer, stream, origin):
    """Load a model: see mpconnxr.load. origin: (sha256, key, counter), or None if none is set."""
    if origin:
        from .seal import Origin

        origin = Origin(verify, *origin)
        model = load_all((source,), origin, arena, prefer, stream)[0]
        try:
            origin.settle()
        except BaseException:
            model.close()
            raise
        return model
    threshold = gc.threshold()
    _collect_often()
    try:  # not by way of load_all: kernels may need the rest of the stack
        return _load(source, bool(verify), arena, prefer, stream, True)
    finally:
        gc.threshold(threshold)
        forget(LOADING)


def load_all(sources, verify, arena, prefer, stream):
    """Load models into one arena: see mpconnxr.load. Return the list of them."""
    threshold = gc.threshold()
    _collect_often()
    try:
        models = [_load(source, verify, arena, prefer, stream, False) for source in sources]
        _let_go(models)
        return models
    finally:
        gc.threshold(threshold)
        forget(LOADING)


def _collect_often():
    gc.threshold(max(_GARBAGE, gc.mem_free() - _PLENTY >> 2))


def _load(source, verify, arena, prefer, stream, is_alone):
    """Return a model: see mpconnxr.load.

    Args:
        source: as for mpconnxr.load.
        verify: as for mpconnxr.load, or a seal.Origin.
        arena: as for mpconnxr.load.
        prefer: as for mpconnxr.load.
        stream: as for mpconnxr.load.
        is_alone: False if other models follow, which may need the same modules.
    """
    from ..model import Model
    from .reader import Reader

    before = _kernels()
    # verify may be a seal.Origin
    reader = getattr(verify, "reader", Reader)(source, verify, stream=stream)
    if prefer:
        from ..inspect import kernels

        loader = kernels.Preferring(reader, arena, prefer)
    else:
        from .loader import Loader

        loader = Loader(reader, arena)
    # Kernels that emitted calls are no longer needed; others, and modules that they share, are.
    free = [name for name in _kernels() if name not in before and loader.is_free(name)]
    for name in free:
        module = sys.modules["mpconnxr." + name]
        for own in getattr(module, "LET_GO", ()):  # where loops have been joined to it
            if hasattr(module, own):  # not a constant, which a build replaces by its value
                delattr(module, own)
    forget(" ".join(free))
    if not loader.stream:  # which may widen weights in a run
        forms.drop("loading")
    forms.drop("table")
    model = Model(loader)
    if is_alone:
        _let_go([model])
    return model


def _let_go(models):
    """Drop the modules and objects that no run of these models needs.

    That is possible if no kernel stays in memory, and all inputs and outputs can be LightTensors.
    """
    if _kernels() or "mpconnxr.kernels" in sys.modules:
        return
    if all([_lighten(model) for model in models]):
        forget(_OF_KERNELS)


def _lighten(model):
    """Make the inputs and outputs LightTensors, which take less heap than Tensors.

    Return False where they must stay: shapes that a run decides, strings, maps, images.
    """
    from ..tensor import Tensor
    from ..turn import LightTensor

    both = model.inputs, model.outputs
    if model._runtime or any([type(t) is not Tensor or t.image for ts in both for t in ts]):
        return False
    made = [[LightTensor(t.data, t.light_fields()) for t in ts] for ts in both]
    model.inputs, model.outputs = made
    return True


def _kernels():
    """Return the names of the kernels' modules that are imported, such as "ops.qconv"."""
    return [name[9:] for name in sys.modules if name.startswith("mpconnxr.ops.")]
