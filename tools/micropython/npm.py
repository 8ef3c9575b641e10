"""A MicroPython that npm has built already: one pinned package in the cache folder."""

import json
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..cache import cache_folder, locked
from .errors import TargetError

_SECONDS = 300  # for npm


@dataclass(frozen=True)
class NpmRecipe:
    """A package of an exact version and content, and the file of it that a target runs.

    integrity: of the package's archive, as a package-lock.json has it; others: (version,
    integrity) of releases that a target of another version takes.
    """

    package: str
    version: str
    integrity: str
    product: str
    others: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    def of_version(self, version: str) -> "NpmRecipe | None":
        """Return this one with the release of a version of MicroPython, None where none is pinned.

        npm's 1.28.0-6 is 1.28.0.
        """
        for number, integrity in ((self.version, self.integrity), *self.others):
            if number.partition("-")[0] == version:
                return replace(self, version=number, integrity=integrity)
        return None

    def path(self, name: str) -> Path:
        """Where the product is, or will be, for the target `name`."""
        return self._folder(name) / "node_modules" / self.package / self.product

    def build(self, name: str) -> Path:
        """Install it unless that is done already, here or by another process at this moment."""
        product, folder = self.path(name), self._folder(name)
        if not product.is_file():
            with locked(folder.name):
                if not product.is_file():
                    self._install(folder)
        return product

    def _folder(self, name):
        return cache_folder() / f"{name.partition('@')[0]}-{self.version}"

    def _install(self, folder: Path) -> None:
        """The folder appears complete, that is by a rename."""
        with tempfile.TemporaryDirectory(dir=cache_folder(), prefix="npm-") as name:
            unfinished = Path(name) / folder.name
            unfinished.mkdir()
            for file, content in self._project().items():
                (unfinished / file).write_text(json.dumps(content))
            _run_npm(unfinished)
            if not (unfinished / "node_modules" / self.package / self.product).is_file():
                raise TargetError(f"npm: {self.package} {self.version} has no {self.product}")
            shutil.rmtree(folder, ignore_errors=True)  # of an installation that lost its product
            unfinished.rename(folder)

    def _project(self):
        """A project that has this package alone, and the lock file that pins it."""
        about = {"name": "target", "version": "1.0.0"}
        project = about | {"dependencies": {self.package: self.version}}
        locked_package = {"version": self.version, "integrity": self.integrity}
        packages = {"": project, f"node_modules/{self.package}": locked_package}
        lock = about | {"lockfileVersion": 3, "packages": packages}
        return {"package.json": project, "package-lock.json": lock}


def _run_npm(folder: Path) -> None:
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TargetError(f"npm: {error}") from error
    if done.returncode:
        lines = [s for s in done.stderr.splitlines() if s.startswith("npm error")]
        raise TargetError(f"npm ci failed: {' '.join(lines[:3]) or done.stderr[-300:]}")
