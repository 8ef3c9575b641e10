"""Parameter blocks of loops by name, for kernels that run from source.

A kernel calls block("patches", x_start=0, row=i, ...). A package built for a board has the numbers
there, in the order that the loop declares, and not this module: see tools.loops.parameters.
"""

from . import parameters
from .parameters import BIAS

_FOLDER = __file__.rpartition("/")[0] + "/loops/"
_GROUP = "# Parameters of "
_known = {}


def declarations(text):
    """Return the declarations in a file of loops: a list of (line, functions, other, constants).

    Each entry is one group. functions: loops that take its parameters; other: (family, function)
    whose parameters come before them, or None; constants: a list of (line, name, position as text,
    comment). Raises ValueError for a declaration that takes more than one line.
    """
    result, is_group = [], False
    for number, line in enumerate(text.split("\n"), 1):
        name, _, rest = line.partition(" = ")
        if line.startswith(_GROUP):
            names, _, other = line[len(_GROUP) :].partition(": as ")
            family, _, function = other.partition(".")
            result.append((number, names.split(", "), (family, function) if other else None, []))
            is_group = True
        elif is_group and name[:1] == "_" and rest and name == name.upper():
            value, _, comment = rest.partition("  # ")
            if value == "const(":
                raise ValueError("line {}: a declaration is one line".format(number))
            if value.startswith("const("):
                result[-1][3].append((number, name, value[6:-1], comment))
            elif value.isdigit() and "[" in comment:
                result[-1][3].append((number, name, value, comment))
            else:
                is_group = False
        elif line and not line.startswith("#"):
            is_group = False
    return result


def fields(loop):
    """Return the fields of a loop's block: [(name, is_biased, is_list)].

    loop: "family.function", or a family. Raises TypeError if the family's blocks differ.
    """
    if loop not in _known:
        family, _, name = loop.partition(".")
        groups = declarations(_source(family))
        functions = {each for group in groups for each in group[1]}
        result = [_of(groups, each) for each in ([name] if name else sorted(functions))]
        if any([each != result[0] for each in result]) or not result[0]:
            raise TypeError("{}: which of its functions?".format(loop))
        _known[loop] = result[0]
    return _known[loop]


def _source(family):
    """Return the text of a family of loops, also of one for an FPU alone."""
    try:
        file = open(_FOLDER + family + ".py")
    except OSError:
        file = open(_FOLDER + "vfp/" + family + ".py")
    with file:
        return file.read()


def block(loop, **numbers):
    """Return a parameter block of numbers by name, with BIAS added where the loop says so.

    Raises TypeError for a missing or an unknown name.
    """
    return parameters.block(*ordered(loop, numbers))


def ordered(loop, numbers):
    """Return the words of the block as a list; this empties the dict of numbers."""
    made = []
    for name, is_biased, is_list in fields(loop):
        if name not in numbers:
            raise TypeError("{}: {} is missing".format(loop, name))
        number = numbers.pop(name)
        result = list(number) if is_list else [number]
        made += [each + BIAS for each in result] if is_biased else result
    if numbers:
        raise TypeError("{} has no {}".format(loop, ", ".join(numbers)))
    return made


def _of(groups, function):
    made = []
    for _, names, other, constants in groups:
        if function in names:
            if other:
                made += fields(".".join(other))
            for _, name, _, comment in constants:
                unit = comment.partition("[")[2].partition("]")[0]
                made.append((name[1:].lower(), unit.endswith(", BIAS"), " x " in unit))
    return made
