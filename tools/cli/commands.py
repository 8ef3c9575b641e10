"""Subcommands of `mpconnxr`: one line each, with the module that implements it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass

_TOOLS = __package__.rpartition(".")[0]  # "tools", or "mpconnxr_host.tools" in a wheel


@dataclass(frozen=True)
class Command:
    """A subcommand.

    Attributes:
        about: its line in the list of commands.
        module: module with its functions.
        entry: name of the function main(argv).
        parser_name: name of the function that returns its parser.
        first: arguments that precede the user's.
    """

    about: str
    module: str
    entry: str = "main"
    parser_name: str = "parser"
    first: tuple[str, ...] = ()

    @property
    def main(self) -> Callable[[list[str]], int]:
        """The function that runs it."""
        return getattr(importlib.import_module(self.module), self.entry)

    @property
    def parser(self) -> Callable:
        """The function that returns its parser."""
        return getattr(importlib.import_module(self.module), self.parser_name)


def _converter(about, name):
    return Command(about, f"{_TOOLS}.converter.__main__", "limited", f"{name}_parser", (name,))


def _tool(about, name, entry="main"):
    return Command(about, f"{_TOOLS}.{name}", entry)


COMMANDS = {
    "convert": Command(
        "convert a model.onnx into a model.bin",
        f"{_TOOLS}.converter.__main__",
        "limited",
        "convert_parser",
    ),
    "quantize": _converter("convert a float model into an int8 model.bin", "quantize"),
    "inspect": _converter("print what a model.bin holds", "inspect"),
    "report": _converter("draw a model's arena, steps and boards as HTML", "report"),
    "sign": _converter("sign a model.bin", "sign"),
    "tensor": _converter("convert a .npy or .pb file for the device", "tensor"),
    "advise": _tool("say whether a model fits a board, and what helps", "advise.__main__"),
    "flash": _tool("deploy a model to a board and verify it there", "flash"),
    "new": _tool("write a main.py that runs a model.bin on a board", "cli.new"),
    "check": _tool("check mpconnxr on a board, and write a report", "check.__main__"),
    "record": _tool("record samples of a board's sensor, with labels", "sensing.record"),
    "monitor": _tool("show a deployed model's answers to a board's sensor", "sensing.monitor"),
    "run": _tool(
        "run a model on a target, compare it with onnxruntime", "run.__main__", "limited"
    ),
    "evaluate": _tool(
        "print a model's accuracy on test data, and where it is wrong",
        "evaluate.__main__",
        "limited",
    ),
    "boards": _tool("list the boards and what is known of them", "cli.boards"),
    "targets": _tool("list, install and build the MicroPython targets", "micropython.__main__"),
    "ops": _tool("list the supported operators, or those of a model", "cli.ops", "limited"),
    "playground": _tool("make a page that runs models in a browser", "playground.__main__"),
    "bench": _tool("count a model's instructions on a target, next to C", "bench.__main__"),
    "conformance": _tool("run ONNX's own tests on a target", "conformance.__main__"),
    "package": _tool("write the whole package, to copy it by hand", "dist.package"),
    "dist": _tool("make packages for mip", "dist.__main__"),
    "completion": _tool("print a shell's completion script", "cli.completion"),
}

GROUPS = {
    "From a model to a board": ("convert", "quantize", "advise", "flash", "new"),
    "A sensor on a board": ("record", "monitor"),
    "Look at a model": ("inspect", "report", "ops", "run", "evaluate", "playground"),
    "Boards and targets": ("boards", "targets", "check"),
    "Files": ("sign", "tensor", "package", "dist"),
    "Measure and test mpconnxr itself": ("bench", "conformance"),
    "Shell": ("completion",),
}
