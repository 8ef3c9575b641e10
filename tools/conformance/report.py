"""Report a run of the suite: print a table, write docs/operators.md and the list of failures."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from . import COLLECTIONS, MS, OLD, VERSIONS
from .suite import STATUSES, Row
from .versions.changes import changed
from .versions.making import NOT_COMPARED, versions_of

_ROOT = Path(__file__).resolve().parents[2]
DOCS = _ROOT / "docs" / "operators.md"
FAILURES = _ROOT / "tests" / "host" / "conformance_failures.txt"

_COMMONEST = 15
_REASONS_A_ROW = 3

_HEAD = """# Operators

Written by `mpconnxr conformance --write-docs`; do not edit. It converts the {n:,} test
cases that come with onnx {onnx}, runs them on MicroPython (`unix`) and compares with their own
results and tolerances; integers must be equal. `mpconnxr conformance --filter REGEX -v`
runs a selection and prints what is wrong.

* **passed**: of the operator's cases; for **bound** of these an input that determines a shape
  (axes, shape, starts, ...) was made a constant, as `--bind` does.
* **as function**: the same cases with the operator replaced by its definition, an ONNX function;
  they test other operators.
* **dtypes**: of the inputs of cases that passed.
* **level 0**: passed cases in which the converter folds everything, since all follows from
  constants and shapes. They are converted again with `--optimize 0`, where
  the device computes every operator, and sizes are data where a kernel can take them so: {kept}
  cases, {empty} of them with empty outputs, whose steps have nothing to compute. The constants of
  a model (Constant, and the branch of an If that a bound condition takes) are copied by the device
  then; which tensors are in a sequence or optional is fixed like a shape, and the device counts
  them.
* A case that is *folded* even then does not count as passed.

## Cases that cannot pass

{out}
## By collection

"""

# Each section can be rewritten alone.
_MS_HEAD = """## onnxruntime's operators

The operators of domain `com.microsoft`, without the prefix here. `{collection}` is a collection of
{n:,} random cases, made by the scripts in `tools/conformance/ms`. The expected outputs are
those of onnxruntime's CPU provider. It has {due} of these operators, of which {own} are here.
Floats may be off by 1e-4 of their value and 1e-5 (float16: 2e-3 and 1e-3). Integers are equal;
but of those that come from floats, one in 50 may lie a step off: a value halfway between two
rounds either way.
`mpconnxr conformance --collection {collection} -v` prints what does not pass.

"""
MS_DUE = 82  # onnxruntime 1.31's get_all_opkernel_def(): com.microsoft of the CPU provider

_VERSIONS_HEAD = """## Operator versions

An opset replaces some operators by new versions; a model keeps those of its own opset. Two
collections try them:

* **{old}**: {n_old:,} node cases of replaced versions that ONNX 1.3 to 1.18 shipped, and the
  installed onnx no longer has. They lie in an archive beside the repository, or where
  `MPCONNXR_NODE_CASES` points. *disputed*: ONNX itself has called the expected outputs wrong
  since, or leaves them open; `tools/conformance/old.py` lists them with the reasons.
* **{versions}**: {n_versions:,} random models of one node, at most {each} for each version from
  opset 7 on, with attributes and dtypes that the version allows (`tools/conformance/versions`).
  The expected outputs are those of onnxruntime at that opset, or, for versions since opset 23 that
  it lacks, of onnx's reference evaluator. With constants as inputs, what the converter folds is
  right as well.

`mpconnxr conformance --collection {old} --collection {versions} -v` prints what does not
pass.

"""

# Operators with cases that cannot pass, and why.
_OUT = {
    "Bernoulli": "the expected values are numpy's random draws, which ONNX does not define",
    "DFT": "two inverse transforms expect numpy's rounding noise, up to 1.9e-7, where 0 is exact",
    "ImageDecoder": "JPEG, JPEG 2000 and WebP are refused; BMP, PNG, PNM and TIFF are decoded",
    "Resize": "two cases with align_corners expect scale * length as the resized length; ONNX's "
    "text means the output's length, a whole number, as onnxruntime and PyTorch do",
    "ai.onnx.preview.training::Gradient": "training",
}


def print_summary(rows: Sequence[Row]) -> None:
    """Print the cases by collection and status, and the commonest reasons of failures."""
    for line in _collection_table(rows):
        print(line)
    for status in ("failed", "unsupported"):
        reasons = Counter(_common(row.reason) for row in rows if row.status == status)
        if reasons:
            print(f"\ncommonest reasons of {status}")
        for reason, n in sorted(reasons.items(), key=_by_count)[:_COMMONEST]:
            print(f"  {n:5}  {reason}")


def _by_count(entry):
    return -entry[1], entry[0]


def _collection_table(rows):
    counts = Counter((row.collection, row.status) for row in rows)
    used = {status for _, status in counts} | set(STATUSES[:5])
    statuses = [status for status in STATUSES if status in used]
    yield "| collection | cases | " + " | ".join(statuses) + " |"
    yield "|---|" + "---:|" * (len(statuses) + 1)
    for name in COLLECTIONS:
        n = [counts[name, status] for status in statuses]
        if sum(n):
            yield f"| {name} | {sum(n)} | " + " | ".join(str(k) for k in n) + " |"


def _common(reason):
    """Return the first reason without details that differ from case to case: names, figures."""
    if reason.startswith("wrong values"):
        return "wrong values"
    if reason.startswith("converter crashed"):
        return ":".join(reason.split(":")[:2])
    reason = reason.partition("; ")[0]
    reason = re.sub(r"step \d+ ", "", reason)
    return re.sub(r" \([^()]*\)", "", reason)


def sections_of(text: str) -> dict[str, str]:
    """Return the page's sections: ONNX's operators, their versions, onnxruntime's operators."""
    text, ms_mark, ms_text = text.partition(_MS_HEAD.partition("\n")[0])
    onnx_text, mark, versions_text = text.partition(_VERSIONS_HEAD.partition("\n")[0])
    return {"onnx": onnx_text, VERSIONS: mark + versions_text, MS: ms_mark + ms_text}


def section_of(collection: str) -> str:
    """Return the section of the page that has the collection's cases."""
    return {MS: MS, OLD: VERSIONS, VERSIONS: VERSIONS}.get(collection, "onnx")


def docs_text(rows: Sequence[Row]) -> str:
    """Return docs/operators.md for these rows, without sections that have no rows."""
    texts = {"onnx": _onnx_section, VERSIONS: _versions_section, MS: _ms_section}
    own = {name: [row for row in rows if section_of(row.collection) == name] for name in texts}
    return "\n".join(text(own[name]) for name, text in texts.items() if own[name])


def _versions_section(rows):
    old, random = ([row for row in rows if row.collection == c] for c in (OLD, VERSIONS))
    each = max(Counter(row.name.partition("_")[0] for row in random).values(), default=0)
    head = _VERSIONS_HEAD.format(
        old=OLD, n_old=len(old), versions=VERSIONS, n_versions=len(random), each=each
    )
    lines = [head.rstrip("\n"), "", *_collection_table(rows), ""]
    lines.append("| operator | versions | what they changed | old | random | left out |")
    lines.append("|---|---|---|---:|---:|---|")
    counts = [_by_operator(part) for part in (old, random)]
    for name, cells in version_rows().items():
        parts = [[r for r in of.get(name, ()) if "_expanded" not in r.name] for of in counts]
        shares = [_share(part) for part in parts]
        bad = _reasons([row for part in parts for row in part]) or _omitted(name, parts[1])
        lines.append("| " + " | ".join([*cells, *shares, bad]) + " |")
    return "\n".join(lines) + "\n"


def version_rows() -> dict[str, list[str]]:
    """Return {operator: [name, versions, changes]} for operators with several versions."""
    versions = defaultdict(list)
    for v in versions_of():
        versions[f"{v.domain}::{v.operator}" if v.domain else v.operator].append(v)
    return {
        name: [name, " ".join(str(v.since) for v in own), changed(own).replace("|", "\\|")]
        for name, own in versions.items()
    }


def _share(rows):
    return f"{sum(row.passed for row in rows)}/{len(rows)}" if rows else ""


def _omitted(name, rows):
    """Return why versions of an operator have no random models; "" if all have some."""
    for names, why in NOT_COMPARED.items():
        if name in names.split():
            return why
    made = {row.name.partition("_")[0] for row in rows}
    bare = name.rpartition("::")[2]
    none = [v.name for v in versions_of() if v.operator == bare and v.name not in made]
    return f"nobody computes {', '.join(none)}" if none else ""


def _ms_section(rows):
    own = len(_by_operator(rows))
    head = _MS_HEAD.format(collection=MS, n=len(rows), due=MS_DUE, own=own)
    lines = [head.rstrip("\n"), ""]
    lines += [*_collection_table(rows), ""]
    lines.append("| operator | dtypes | passed | bound | what does not pass |")
    lines.append("|---|---|---:|---:|---|")
    for name, own in sorted(_by_operator(rows).items()):
        cells = _cells(name.partition("::")[2], own)
        lines.append("| " + " | ".join([*cells[:4], cells[-1]]) + " |")
    return "\n".join(lines) + "\n"


def _by_operator(rows):
    by_operator = defaultdict(list)
    for row in rows:
        if row.operator:
            by_operator[row.operator].append(row)
    return by_operator


def _onnx_section(rows):
    import onnx

    kept = [row for row in rows if row.passed and row.optimize == 0]
    out = "".join(f"* {name}: {reason}.\n" for name, reason in _OUT.items())
    head = _HEAD.format(
        n=len(rows),
        onnx=onnx.__version__,
        kept=len(kept),
        empty=sum(row.empty for row in kept),
        out=out,
    )
    lines = [head.rstrip("\n"), ""]
    lines += _collection_table(rows)
    lines += ["", "## By operator", ""]
    lines.append(
        "| operator | dtypes | passed | bound | level 0 | as function | what does not pass |"
    )
    lines.append("|---|---|---:|---:|---:|---:|---|")
    by_operator = _by_operator(rows)
    for name in sorted(by_operator, key=lambda n: ("::" in n, n)):
        lines.append("| " + " | ".join(_cells(name, by_operator[name])) + " |")
    several = [row for row in rows if not row.operator and not row.passed]
    if several:
        lines += ["", "## Models of several operators that do not pass", ""]
        lines += ["| collection | case | status | reason |", "|---|---|---|---|"]
    for row in sorted(several, key=lambda row: row.id):
        lines.append(f"| {row.collection} | {row.name} | {row.status} | {_cell(row.reason)} |")
    return "\n".join(lines) + "\n"


def _cells(name, rows):
    functions = [row for row in rows if "_expanded" in row.name]
    own = [row for row in rows if "_expanded" not in row.name]
    passed = [row for row in own if row.passed]
    bound = sum(row.status == "passed-bound" for row in own)
    kept = sum(row.optimize == 0 for row in passed)
    dtypes = sorted({dtype for row in passed for dtype in row.dtypes})
    return [
        name,
        " ".join(dtypes),
        f"{len(passed)}/{len(own)}",
        str(bound or ""),
        str(kept or ""),
        f"{sum(row.passed for row in functions)}/{len(functions)}" if functions else "",
        _reasons(own),
    ]


def _reasons(rows):
    reasons = Counter()
    for row in rows:
        if row.status == "folded":
            reasons["folded"] += 1
        elif not row.passed:
            reasons[_common(row.reason)] += 1
    ranked = sorted(reasons.items(), key=_by_count)
    texts = [f"{n} × {_cell(reason)}" for reason, n in ranked[:_REASONS_A_ROW]]
    if len(ranked) > _REASONS_A_ROW:
        texts.append(f"{sum(n for _, n in ranked[_REASONS_A_ROW:])} others")
    return "; ".join(texts)


def _cell(reason):
    return _common(reason).replace("|", "\\|")


def failures_text(rows: Sequence[Row]) -> str:
    """Return a line for each case that does not pass."""
    return "".join(f"{row.id}\n" for row in sorted(rows, key=lambda r: r.id) if not row.passed)


def is_of(row_id: str, section: str) -> bool:
    """Return True if a case, given by its id, belongs to this section of the page."""
    return section_of(row_id.partition(" ")[0]) == section


def write_docs(rows: Sequence[Row]) -> None:
    """Rewrite docs/operators.md and the list of failures: the sections whose cases were run.

    The list has no cases of replaced versions, since none of them may fail.
    """
    sections = sections_of(DOCS.read_text())
    ids = FAILURES.read_text().splitlines()
    for section in sections:
        own = [row for row in rows if is_of(row.id, section)]
        if own:
            sections[section] = docs_text(own)
        if own and section != VERSIONS:
            ids = [i for i in ids if not is_of(i, section)] + failures_text(own).splitlines()
    DOCS.write_text("\n".join(s.strip("\n") + "\n" for s in sections.values() if s))
    FAILURES.write_text("".join(f"{i}\n" for i in sorted(ids)))
