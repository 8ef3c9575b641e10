"""How a model is loaded with its kernels; needed for that alone, and let go of after it."""

import gc
import sys

from . import forms
from .opening import forget

# While a model is loaded the heap is collected whenever so many bytes were allocated: what the
# model keeps would else come to lie between garbage all over it, and leave no large piece. Where
# plenty is free, and collecting takes longer, it is a quarter of what is more than that.
_GARBAGE = const(10240)
_PLENTY = const(262144)
# What only loading needs, a quarter of the code.
LOADING = (
    "opening kernel_load loading reader records graph numbers borders node arena source written "
    "calls emission repeats held"
)
# What kernels and Tensors need, but no table of calls: see _let_go.
_OF_KERNELS = "forms parameters tensor ops"


def load(source, verify, arena, prefer, stream, origin):
    """mpconnxr.load. origin: sha256, key and counter, if any was given, else None."""
    if origin:
        from . import seal

        return seal.load(source, verify, arena, prefer, stream, *origin)
    usual = gc.threshold()
    _collect_often()
    try:  # not by way of load_all: kernels may need the rest of the stack
        return _load(source, bool(verify), arena, prefer, stream, True)
    finally:
        gc.threshold(usual)
        forget(LOADING)


def load_all(sources, verify, arena, prefer, stream):
    """Models of all these sources, in one arena if it is given."""
    usual = gc.threshold()
    _collect_often()
    try:
        models = [_load(source, verify, arena, prefer, stream, False) for source in sources]
        _let_go(models)
        return models
    finally:
        gc.threshold(usual)
        forget(LOADING)


def _collect_often():
    gc.threshold(max(_GARBAGE, gc.mem_free() - _PLENTY >> 2))


def _load(source, verify, arena, prefer, stream, is_alone):
    """Return a model. is_alone: no other one follows that needs what this one does not."""
    from .model import Model
    from .reader import Reader

    before = _kernels()
    # a seal.Origin where the program asks for one
    reader = getattr(verify, "reader", Reader)(source, verify, stream=stream)
    if prefer:
        from .kernels import Preferring

        loader = Preferring(reader, arena, prefer)
    else:
        from .loading import Loader

        loader = Loader(reader, arena)
    # Kernels that emitted calls are needed no more; others, and what they share with them, are.
    free = [name for name in _kernels() if name not in before and loader.is_free(name)]
    for name in free:
        module = sys.modules["mpconnxr." + name]
        for own in getattr(module, "LET_GO", ()):  # where loops have been joined to it
            if hasattr(module, own):  # but constants, which a build puts in their places
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
    """Forget what no run of these models needs, if no kernel in memory needs it, and if all inputs
    and outputs can be Borders.
    """
    if _kernels() or "mpconnxr.kernels" in sys.modules:
        return
    if all([_give_borders(model) for model in models]):
        forget(_OF_KERNELS)


def _give_borders(model):
    """Give a model Borders for its inputs and outputs, which take less of the heap than Tensors.
    Return False where they must stay: shapes that a run decides, strings, maps, images.
    """
    from .tensor import Tensor
    from .turn import Border

    of = model.inputs, model.outputs
    if model._runtime or any([type(t) is not Tensor or t.image for ts in of for t in ts]):
        return False
    model.inputs, model.outputs = [[Border(t.data, t.border()) for t in ts] for ts in of]
    return True


def _kernels():
    """Return the modules of kernels that are imported, as "ops.qconv"."""
    return [name[9:] for name in sys.modules if name.startswith("mpconnxr.ops.")]
