"""Find the models of the collection that take more instructions than they should."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

_REFERENCE = "mnist_8"
_TIMES = 12  # the reference's instructions a MAC
MANY_MACS = 50_000  # models with at least so many have a limit per MAC, others per step
_STEP, _ELEMENT = 1_000, 120  # instructions allowed in models with fewer MACs
_LITTLE = 0.01  # share of Python's floats, which run outside of loops
TEXT = f"""## Over the limits

The limits tell which models to work on. Instructions in loops are those of viper and assembler; of
models with fewer MACs, all within the calls of loops, as in [the benchmarks](benchmarks.md).

* At least {MANY_MACS:,} MACs: in loops at most {_TIMES} times the instructions a MAC of a run of
  {_REFERENCE} on the same core; in the whole run, if Python's floats do over {_LITTLE:.0%} of it.
* Fewer MACs: outside of loops at most {_STEP:,} instructions a step; in loops at most {_ELEMENT}
  for an element. A step's elements are those that it takes, those that it gives or its MACs,
  whichever are most, and the nodes of trees that it visits.

Models over a limit:
"""


def broken(rows: Sequence, targets: Sequence[str]) -> Iterator[str]:
    """Yield a line for each limit that a model (an every_model.Row) exceeds."""
    references = [row for row in rows if row.name == _REFERENCE]
    for row in rows:
        for target in targets:
            if target not in row.counts:
                continue
            if row.macs < MANY_MACS:
                yield from _small(row, target)
            elif references and target in references[0].counts:
                yield from _large(row, target, references[0])


def _large(row, target, reference):
    counts = row.loops if row.python <= _LITTLE else row.counts
    per_mac, most = counts[target] / row.macs, _TIMES * reference.each(target)
    if per_mac > most:
        yield f"{row.name}, {target}: {per_mac:,.1f} instructions a MAC, above {most:,.1f}"


def _small(row, target):
    within = row.loops[target]
    a_step = (row.counts[target] - within) / max(row.steps, 1)
    an_element = within / max(row.elements, 1)
    if a_step > _STEP:
        yield f"{row.name}, {target}: {a_step:,.0f} instructions a step outside of loops"
    if an_element > _ELEMENT:
        yield f"{row.name}, {target}: {an_element:,.0f} instructions an element in loops"
