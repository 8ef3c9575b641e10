"""Format the figures of one row of a measurement, for the terminal and for docs/benchmarks.md."""

from __future__ import annotations


def per_mac(row: dict, name: str) -> str:
    """Return a count of the row divided by the model's MACs; empty if it was not counted."""
    count = row.get(name)
    return f"{count / row['macs']:.2f}" if count and row["macs"] else ""


def share_outside_loops(row: dict) -> str:
    """Return the share of a run's instructions outside of loops; empty if unknown."""
    within = row.get("in_loops_instructions")
    return f"{1 - within / row['instructions']:.1%}" if within is not None else ""


def time_ratio(row: dict) -> str:
    """Return the time of a run divided by the time of the C code at -O3; empty if unknown."""
    return f"{row['c_o3_time_ratio']:.2f}" if "c_o3_time_ratio" in row else ""
