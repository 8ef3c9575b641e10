"""The undamaged files from which the fuzzer starts: some for each kernel, of different kinds.

They are what the project's tests convert, so that a kernel with tests has seeds. Made once, in a
few minutes, into the cache folder; anew where kernels or the format are others, or when told.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tools import package
from tools.cache import cache_folder, locked
from tools.format import layout

from . import modelfile

ROOT = Path(__file__).resolve().parents[2]
TESTS = ("tests/host/ops", "tests/host/converter/rewrites/test_qdq_resize.py")
A_KERNEL = 16  # seeds
_MADE = 2  # one more whenever kernels refuse what the converter made before


class SeedError(Exception):
    """No seeds could be made."""


@dataclass(frozen=True)
class Seed:
    """An undamaged model file."""

    name: str
    data: bytes
    kernels: tuple[str, ...]


def kernels() -> list[str]:
    """Return the names of all kernels of the package."""
    return sorted(path.stem for path in package.KERNELS.glob("[!_]*.py"))


def collection(renew: bool = False) -> dict[str, list[Seed]]:
    """Return a few seeds for each kernel that has any, the smallest one first."""
    about = f"{layout.VERSION} {A_KERNEL} {_MADE} {kernels()}"
    key = hashlib.sha256(about.encode()).hexdigest()[:10]
    folder = cache_folder() / f"fuzz-seeds-{key}"
    index = folder / "index.json"
    with locked(folder.name):
        if renew or not index.is_file():
            folder.mkdir(exist_ok=True)
            _make(folder, index)
    names = json.loads(index.read_text())
    read = {name: (folder / name).read_bytes() for some in names.values() for name in some}
    seeds = {
        name: Seed(name, data, tuple(modelfile.read(data).kernels()))
        for name, data in read.items()
    }
    return {kernel: [seeds[name] for name in some] for kernel, some in names.items()}


def _make(folder, index):
    print("fuzz: making seeds, once; it takes some minutes", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix="mpconnxr-seeds-") as harvest:
        _harvest(harvest)
        files = [path.read_bytes() for path in sorted(Path(harvest).iterdir())]
    chosen = choose(files)
    for data in {data for some in chosen.values() for data in some}:
        (folder / _name(data)).write_bytes(data)
    names = {kernel: [_name(data) for data in some] for kernel, some in chosen.items()}
    unfinished = index.with_suffix(".new")
    unfinished.write_text(json.dumps(names, indent=1))
    unfinished.rename(index)


def _harvest(folder):
    if not (ROOT / "tests").is_dir():
        raise SeedError("its seeds come from the project's tests: call it in a clone")
    environment = {n: v for n, v in os.environ.items() if not n.startswith("PYTEST_")}
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "tests.fuzz.harvest"),
        *("-p", "no:cacheprovider", *TESTS),
    ]
    completed = subprocess.run(
        command,
        cwd=ROOT,
        env=environment | {"MPCONNXR_HARVEST": folder},
        capture_output=True,
        text=True,
    )
    # A test that fails for want of what it ran is none of the seeds' business.
    if completed.returncode > 1:
        raise SeedError(f"pytest ended with {completed.returncode}: {completed.stdout[-500:]}")


def _name(data):
    return f"{hashlib.sha256(data).hexdigest()[:16]}.bin"


def choose(files: Iterable[bytes]) -> dict[str, list[bytes]]:
    """Return small files that use each kernel, with as different operands as possible."""
    kinds: dict[str, dict[tuple, bytes]] = {}
    for data in sorted(set(files), key=lambda data: (len(data), data)):
        file = modelfile.read(data)
        for node in file.all_nodes():
            kinds.setdefault(node.kernel, {}).setdefault(_kind(file, node), data)
    return {kernel: _spread(list(kinds[kernel].values())) for kernel in sorted(kinds)}


def _kind(file, node):
    """Return a key that is equal for alike uses of a kernel.

    It has dtypes and storage of the operands, and whether parameters are 0.
    """
    groups = (node.inputs, node.outputs, node.scratch)
    records = [[file.tensors[i] for i in group] for group in groups]
    return (
        tuple(tuple((t.dtype, t.storage, t.flags) for t in group) for group in records),
        len(node.params),
        tuple(min(abs(p), 1) for p in node.params[:6]),
    )


def _spread(files):
    files = list(dict.fromkeys(files))
    if len(files) <= A_KERNEL:
        return files
    step = (len(files) - 1) / (A_KERNEL - 1)
    return [files[round(i * step)] for i in range(A_KERNEL)]
