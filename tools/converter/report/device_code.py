"""What of mpconnxr/ a board is given for a model, and which of it load() imports.

A module's needs are read from its source: what it imports before anything is called, and the
families of loops that it names, of which the board is given the form that it takes.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import PurePosixPath

from mpconnxr import forms
from tools.deploy.code import code_for
from tools.deploy.machine import Machine
from tools.deploy.model_file import ModelFile
from tools.deploy.modules import PACKAGE, Package

# Bytes of the heap that a module takes for each byte of its .mpy, the least, likely and most:
# tests/host/test_estimates.py holds them to what is measured. Some that it counts are not needed.
HEAP = (1.2, 1.45, 1.7)
_FAMILY = re.compile(r"""["'](loops_\w+)["']""")


_package = cache(Package)  # reads each module once


def sizes(model: ModelFile, machine: Machine) -> tuple[int, int]:
    """Bytes of the .mpy that a board is given, and of those that load() imports there."""
    files = _files(model, machine)
    loaded = _loaded(tuple(files), tuple(model.kernels), model.optional)
    return sum(files.values()), sum(files[name] for name in loaded)


def _files(model, machine):
    """Sizes by module, as 'ops.conv'."""
    files = {}
    for file in code_for(model, _package(), machine):
        name = ".".join(PurePosixPath(file.path).with_suffix("").parts[1:])
        files[name.removesuffix("__init__").rstrip(".")] = len(file.data)
    return files


def _loaded(there, kernels, optional):
    """Those modules of what is there that load() imports."""
    queue = ["", "loading", "model", "ops", *optional, *(f"ops.{kernel}" for kernel in kernels)]
    found = set()
    while queue:
        module = queue.pop()
        if module in there and module not in found:
            found.add(module)
            queue += _imports(module)
            for family in _families(module):
                queue += [f"ops.{family}", *(f"ops.{family}_{form}" for form, _ in forms.FORMS)]
    return found


def _path(module):
    path = PACKAGE.joinpath(*module.split(".")) if module else PACKAGE
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def _imports(module):
    """Modules of the package that this one imports as it is imported itself."""
    path = _path(module)
    package = path.relative_to(PACKAGE).parent.parts
    found = []
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            base += tuple(node.module.split(".")) if node.module else ()
            found += [".".join([*base, alias.name]) for alias in node.names]
            found.append(".".join(base))
    return found


@cache
def _families(module):
    return _FAMILY.findall(_path(module).read_text())
