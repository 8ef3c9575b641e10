"""The target "webassembly": MicroPython's WebAssembly port from npm, run by node.

The playground runs the same files in a browser.
"""

from dataclasses import dataclass
from pathlib import Path

from .npm import NpmRecipe
from .packages import NODE, NPM
from .unix import UnixTarget

_RUNNER = Path(__file__).with_name("webassembly.mjs")


@dataclass(frozen=True)
class WebAssemblyTarget(UnixTarget):
    """A process of node; files are copied into its memory, and its heap grows as needed."""

    def _command(self, heap: int | None) -> list[str]:
        if heap is not None:
            raise self._refuse("heap")
        return ["node", str(_RUNNER), self.build().as_uri()]


# Releases of MicroPython, not previews; docs/targets.md says what runs on each.
_OTHERS = (
    (
        "1.28.0-6",
        "sha512-eRJw+jOhFPoEClHRI8RmzIBjORpOhVdDFcdrNYHUc0U+"
        "EwchuD5cYIfmgvj3RWim7vBnjBK8mYxMBBVduOo8Lw==",
    ),
    (
        "1.27.0",
        "sha512-DnXx4EqxgkeaFESrS3uKrL7mLMk4mRTd0mMzaOd3HUSi"
        "ZUOAE7t11uLnjf3ftF87N2xm4knHnWEKcVK4IYIUDA==",
    ),
    (
        "1.26.0",
        "sha512-48rQd947zn6xKzQapZ8uNyJPNNnnX92MmtsFSGADl755"
        "X6ZXMNBHBJFK7aVjkUE+mp38R7CnHQHRrZ+gcRrLRA==",
    ),
    (
        "1.25.0",
        "sha512-jyepGQwQXRAD9P7DozK9271n0fdEGJWc8cPlew246tA2"
        "Zd+FosxCosJh1Jo07mfUHpMhOa57ipDAK544T0WkJA==",
    ),
)

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
            _OTHERS,
        ),
        word_bits=32,
        float_bits=64,
        viper=False,
        arch="",
        build_packages=(NPM,),
        run_packages=(NODE,),
    ),
)
