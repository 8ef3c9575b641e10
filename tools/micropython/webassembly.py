"""The target that is MicroPython's WebAssembly port, as npm has it: node runs it here, a browser
in the playground.
"""

from dataclasses import dataclass
from pathlib import Path

from .npm import NpmRecipe
from .packages import NODE, NPM
from .unix import UnixTarget

_RUNNER = Path(__file__).with_name("webassembly.mjs")


@dataclass(frozen=True)
class WebAssemblyTarget(UnixTarget):
    """A process of node; files are copied into its memory, and its heap grows as it wants to."""

    def _command(self, heap: int | None) -> list[str]:
        if heap is not None:
            raise self._refuse("heap")
        return ["node", str(_RUNNER), self.build().as_uri()]


TARGETS = (
    WebAssemblyTarget(
        "webassembly",
        "what a browser runs, in node: 32-bit words, doubles, bytecode only",
        NpmRecipe(
            "@micropython/micropython-webassembly-pyscript",
            "1.29.0-6",
            "sha512-kLwGPJFsLY/2aUPmzZxpvauFSmKc0SlJWVvvEttULR0poVQ6W9HV"
            "//1fUJyxrGWAxCVDw9aYqJ0LAog0ZLjYVA==",
            "micropython.mjs",
        ),
        word_bits=32,
        float_bits=64,
        viper=False,
        arch="",
        build_packages=(NPM,),
        run_packages=(NODE,),
    ),
)
