"""Several models in one arena, as large as the largest one of them needs.

from mpconnxr.sharing import load_all
listening, reading = load_all(("words.bin", "digits.bin"))
"""

from .errors import InputError, UnsupportedError


def load_all(sources, verify=True, stream=True):
    """Loads models into one arena: a list of them. A run of one ends the life of another's inputs
    and outputs; their state, if they have any, is their own.

    sources, verify, stream: as for mpconnxr.load. The arena is allocated before any of the models.
    Raises what load raises.
    """
    from . import arena as arenas
    from .kernel_load import load_all

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
    """Bytes of arena that a model asks for, from its tables."""
    from .reader import Reader

    reader = Reader(source, False, stream=stream)
    if reader.stream:
        reader.stream.close()
    return reader.arena_nbytes
