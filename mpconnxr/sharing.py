"""Several models in one arena, as large as the largest one of them needs.

from mpconnxr.sharing import load_all
listening, reading = load_all(("words.bin", "digits.bin"))
"""

from . import arena as arenas
from . import load
from .reader import Reader


def load_all(sources, verify=True, stream=True):
    """Loads models into one arena: a list of them. A run of one ends the life of another's inputs
    and outputs; their state, if they have any, is their own.

    sources, verify, stream: as for mpconnxr.load. The arena is allocated before any of the models.
    Raises what load raises.
    """
    shared = arenas.make(max([_needed(source, stream) for source in sources]))
    return [load(source, verify, shared, (), stream) for source in sources]


def _needed(source, stream):
    """Bytes of arena that a model asks for, from its tables."""
    reader = Reader(source, False, stream=stream)
    if reader.stream:
        reader.stream.close()
    return reader.arena_nbytes
