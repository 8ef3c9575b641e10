"""Install a MicroPython that npm has already built: one pinned package in the cache folder."""

import json
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..cache import cache_folder, locked
from .errors import TargetError

_TIMEOUT = 300  # seconds


@dataclass(frozen=True)
class NpmRecipe:
    """An npm package of an exact version, and the file in it that a target runs.

    Attributes:
        package: its name.
        version: its version.
        integrity: checksum of its archive, as in package-lock.json.
        product: the file to run.
        others: (version, integrity) of further releases, for targets with a version in their name.
    """

    package: str
    version: str
    integrity: str
    product: str
    others: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    def of_version(self, version: str) -> "NpmRecipe | None":
        """Return the recipe for another version of MicroPython; None if none is pinned.

        npm's version 1.28.0-6 counts as 1.28.0.
        """
        for number, integrity in ((self.version, self.integrity), *self.others):
            if number.partition("-")[0] == version:
                return replace(self, version=number, integrity=integrity)
        return None

    def path(self, name: str) -> Path:
        """Return where the product for target `name` is or will be."""
        return self._folder(name) / "node_modules" / self.package / self.product

    def build(self, name: str) -> Path:
        """Install the package unless this or another process has done so; return the product."""
        product, folder = self.path(name), self._folder(name)
        if not product.is_file():
            with locked(folder.name):
                if not product.is_file():
                    self._install(folder)
        return product

    def _folder(self, name):
        return cache_folder() / f"{name.partition('@')[0]}-{self.version}"

    def _install(self, folder: Path) -> None:
        """Install into a temporary folder, then rename it: the final folder is always complete."""
        with tempfile.TemporaryDirectory(dir=cache_folder(), prefix="npm-") as name:
            unfinished = Path(name) / folder.name
            unfinished.mkdir()
            for file, content in self._project().items():
                (unfinished / file).write_text(json.dumps(content))
            _run_npm(unfinished)
            if not (unfinished / "node_modules" / self.package / self.product).is_file():
                raise TargetError(f"npm: {self.package} {self.version} lacks {self.product}")
            shutil.rmtree(folder, ignore_errors=True)  # a damaged installation
            unfinished.rename(folder)

    def _project(self):
        """Return a project with this package alone, and the lock file that pins it."""
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
            timeout=_TIMEOUT,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TargetError(f"npm: {error}") from error
    if done.returncode:
        lines = [s for s in done.stderr.splitlines() if s.startswith("npm error")]
        raise TargetError(f"npm ci failed: {' '.join(lines[:3]) or done.stderr[-300:]}")
