"""Several models in one arena, as large as the largest of them needs.

load_all loads them, in the order of their sources:

    from mpconnxr.sharing import load_all
    listening, reading = load_all(("words.bin", "digits.bin"))
"""

from .errors import InputError, UnsupportedError


def load_all(sources, verify=True, stream=True):
    """Load models into one arena and return a list of them: see mpconnxr.load for each source.

    A run of one model overwrites inputs and outputs of the others. Each model has its own state.
    The arena is allocated before any model.
    """
    from . import arena as arenas
    from .build.load import load_all

    if not isinstance(sources, (list, tuple)):
        raise InputError("sources: a list of them is needed")
    try:
        shared = arenas.make(max([0] + [_needed(source, stream) for source in sources]))
        return load_all(sources, bool(verify), shared, (), stream)
    except MemoryError:
        from .turn import SHORT, fresh

        raise fresh(SHORT)
    except RuntimeError:
        raise UnsupportedError("the models: the stack is too short")


def _needed(source, stream):
    """Return the bytes of arena that a model's tables ask for."""
    from .build.reader import Reader

    reader = Reader(source, False, stream=stream)
    if reader.stream:
        reader.stream.close()
    return reader.arena_nbytes
