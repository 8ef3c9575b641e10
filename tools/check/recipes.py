"""Make random calls of loops from their declarations of parameters, accesses and limits.

A recipe is a line of text. calls/draw.py makes a call from it, the same on any machine:

    relu32 2,9 i9 =i1 =i10

A recipe has the loop's name, the parameters, and the buffers x, w and out: the type code of an
element as in array, and the number of elements; `=` if the loop reads nothing there. Limits of
elements follow, each as `;first,n,step,times,least,greatest,0`: n elements from `first` on, and n
more after each step. A 1 at its end means limits of floats' bits without the sign.

The generator draws parameters within their ranges until the declaration accepts them and each
buffer is small.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache

from mpconnxr.parameters import BIAS
from tools import access
from tools.access import Access, AccessError, Loop, Values
from tools.loops.parameters import Parameter

N_RECIPES = 100  # most of a loop; further calls reuse the parameters with other data
_MIN_RECIPES = 20
_MAX_ELEMENTS = 800  # in a buffer
_MAX_DRAWS = 20_000
_SIZES = (1, 2, 3, 5, 9, 40)  # largest excess of a call's sizes over the least
_SIZES_OF_LINES = (3, 9, 40, 40)  # for loops with few sizes
_NUMBER_UNITS = ("value", "mask", "exponent", "bits", "multiplier", "mantissa", "code", "float")
_CODES = {1: "B", 2: "H", 4: "i"}
_WORD = -(1 << 31), (1 << 31) - 1


def recipes(family: str, name: str) -> tuple[str, ...]:
    """Return up to N_RECIPES recipes for a loop.

    Raises:
        AccessError: if the declaration accepts too few draws.
    """
    return _recipes(access.loops(family)[name], f"{family}.{name}")


@cache
def _recipes(loop: Loop, seed: str) -> tuple[str, ...]:
    numbers = random.Random(seed)
    lines: list[str] = []
    for _ in range(_MAX_DRAWS):
        p = _parameters(loop, numbers)
        loop.solve(p)
        try:
            accesses = loop.accesses(p)
            if any(each.argument == "p" and each.high > len(p) for each in accesses):
                continue
            # A few calls that do nothing are enough.
            if any(each.argument != "p" for each in accesses) or numbers.random() < 0.05:
                lines.append(_recipe(loop, p, accesses, numbers))
        except AccessError:
            continue
        if len(lines) == N_RECIPES:
            break
    if len(lines) < _MIN_RECIPES:
        raise AccessError(f"{seed}: only {len(lines)} of {_MAX_DRAWS} draws are calls")
    return tuple(lines)


def _recipe(loop: Loop, p: list[int], accesses: list[Access], numbers: random.Random) -> str:
    """Return the line of a call. Raises AccessError if a buffer is too large or begins before 0.

    Args:
        loop: the loop.
        p: its block.
        accesses: what the call accesses.
        numbers: random numbers.
    """
    values = loop.trusted(p)
    buffers = [_buffer(loop, name, accesses, values) for name in loop.args[:3]]
    words = ",".join(str(_signed(word)) for word in p) or "-"
    return " ".join([loop.name, words, *buffers])


def _buffer(loop: Loop, name: str, accesses: list[Access], values: list[Values]) -> str:
    """Return the description of a buffer for a call's line.

    Args:
        loop: the loop.
        name: name of the argument.
        accesses: what the call accesses.
        values: limits of elements that the loop trusts in.

    Raises:
        AccessError: if the buffer is too large or begins before 0.
    """
    own = [each for each in accesses if each.argument == name]
    n = max([each.high for each in own], default=0)
    if n > _MAX_ELEMENTS or any(each.low < 0 for each in own):
        raise AccessError(f"{name} has {n} elements")
    code = _CODES[own[0].nbytes or 4] if own else "i"
    least, greatest = _WORD if code == "i" else (0, (1 << 8 * own[0].nbytes) - 1)
    code = "f" if loop.has_floats(name) else code
    if not any(each.kind == "reads" for each in own):
        return f"={code}{n + 1}"
    limits = [
        (v.low, min(v.high, n), max(v.least, least), min(v.greatest, greatest), v.is_magnitude)
        for v in values
        if v.argument == name and v.low < min(v.high, n)
    ]
    if empty := [limit for limit in limits if limit[2] > limit[3]]:
        raise AccessError(f"{name}: no element is from {empty[0][2]} to {empty[0][3]}")
    return ";".join([f"{code}{n}", *_series(limits)])


def _series(limits: list[tuple[int, int, int, int, bool]]) -> Iterator[str]:
    """Yield limits as text; neighbours at equal steps become one text."""
    while limits:
        low, high, *rest = limits[0]
        step = limits[1][0] - low if len(limits) > 1 else 0
        times = 1
        while times < len(limits) and limits[times] == (
            low + times * step,
            high + times * step,
            *rest,
        ):
            times += 1
        yield f"{low},{high - low},{step},{times},{rest[0]},{rest[1]},{int(rest[2])}"
        limits = limits[times:]


def _signed(word: int) -> int:
    """Return a word as an int32."""
    return word - (1 << 32) if word >> 31 == 1 else word


def _parameters(loop: Loop, numbers: random.Random) -> list[int]:
    """Draw the words of a loop's parameter block."""
    is_line = sum(parameter.high is None for parameter in loop.block) < 4
    most = numbers.choice(_SIZES_OF_LINES if is_line else _SIZES)
    words: list[int] = []
    for parameter in loop.block:
        for _ in range(parameter.count or numbers.randint(0, 12)):
            bias = BIAS if parameter.is_biased else 0
            words.append(bias + _number(parameter, most, words, numbers))
    return words


def _number(parameter: Parameter, most: int, before: list[int], numbers: random.Random) -> int:
    """Draw the value of a parameter.

    Args:
        parameter: the parameter.
        most: how far above its least value it may be.
        before: the words of the block before it.
        numbers: random numbers.
    """
    if parameter.values:
        return numbers.choice(parameter.values)
    low, high = parameter.low, parameter.high
    if parameter.unit.startswith(_NUMBER_UNITS):
        if parameter.is_biased:
            low, high = -BIAS if low is None else low, 2 * BIAS if high is None else high
        return _value(low, high, numbers)
    if low is None:
        low, high = (-3, min(most, 6)) if parameter.is_biased else (0, high)
    if parameter.meaning.startswith("end, exclusive") and before:
        low = max(low, before[-1])
    elif "stride" in parameter.name or "step" in parameter.name:
        return max(low, _stride(most, before, numbers))
    elif "start" in parameter.name:
        small = [word for word in before if 0 <= word <= 40]
        if len(small) > 1 and numbers.random() < 0.2:  # behind data at another start
            low += numbers.choice(small) + numbers.choice(small) * numbers.randint(1, 5)
        most = min(most, 4)
    elif "kernel" in parameter.name or "dilation" in parameter.name:
        most = min(most, 3)
    end = max(low, low + most if high is None else min(high, low + most))
    number = numbers.randint(low, end)
    # A size of 0 leaves nothing to do: a few are enough.
    return number if number or numbers.random() < 0.15 else numbers.randint(low, end)


def _stride(most: int, before: list[int], numbers: random.Random) -> int:
    """Draw a stride: a small number, or a product of sizes, as in an array without gaps."""
    sizes = [word for word in before if 1 < word <= 40]
    if numbers.random() < 0.3 or not sizes:
        return numbers.choice((0, 1, 1, 2, numbers.randint(0, most)))
    product = 1
    for size in numbers.sample(sizes, min(len(sizes), numbers.randint(1, 3))):
        product *= size
    return product if product < _MAX_ELEMENTS else 1


def _value(low: int | None, high: int | None, numbers: random.Random) -> int:
    """Draw a number: an end of its range, one near it or near 0, or any."""
    low = _WORD[0] if low is None else low
    high = _WORD[1] if high is None else high
    kind, value = numbers.randrange(8), numbers.randint(low, high)
    if kind < 3 or high - low < 16:
        return value
    if kind < 5:
        return (low, high)[kind - 3]
    near = max(low, min(0, high)) if kind < 7 else high
    return near + (value - near >> numbers.randrange(max((high - low).bit_length(), 1)))
