"""`python -m tools.converter inspect --kernels`: a file's kernels and forms of their loops."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tools.deploy.errors import DeployError
from tools.deploy.modules import Package
from tools.format import layout, reader

from .. import own
from ..errors import ConvertError


def print_kernels(path: Path, ops: Path | None) -> None:
    """Print a line for each family of loops: kernel, number of steps, family, forms.

    The board takes the first form that it can run.

    Raises:
        ConvertError: if the file has no model.
    """
    stored = reader.read(path.read_bytes())
    if stored.kind != layout.KIND_MODEL:
        raise ConvertError(f"{path} has tensors, not a model")
    package = Package(own=ops / "device" if own.kernels_in(ops) else None)
    for kernel, n in Counter(node.kernel for node in stored.nodes).items():
        try:
            families = package.forms_for(kernel)
        except DeployError:
            families = {"not in mpconnxr": []}
        lines = [f"{family}: {', '.join(forms)}" for family, forms in families.items()]
        for i, line in enumerate(lines or ["no loops"]):
            head = f"{kernel:16} {n:4}" if i == 0 else " " * 21
            print(f"{head}  {line.removesuffix(': ')}")
