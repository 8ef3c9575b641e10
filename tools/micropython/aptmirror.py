"""Find the system's Debian mirror and download packages of another release from it.

The system's own apt stays untouched: source list, indexes and downloads lie in a folder of the
caller.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from .errors import TargetError

# Debian's own files; others in these folders are third-party lists.
SOURCE_FILES = ("sources.list.d/debian.sources", "sources.list", "sources.list.d/debian.list")
ONE_LINE = re.compile(r"deb(?:-src)?\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s+(.*)")


class Mirror(NamedTuple):
    """A server from which apt gets packages.

    Attributes:
        uri: its address.
        signed_by: path of its keyring; "" for the system's trusted keyrings.
    """

    uri: str
    signed_by: str  # a keyring's path, or "" for the system's trusted ones


def find_mirror(etc_apt: Path = Path("/etc/apt")) -> Mirror | None:
    """Return the mirror of Debian's main archive in the system's apt sources; None without one."""
    for name in SOURCE_FILES:
        path = etc_apt / name
        if path.is_file():
            text = path.read_text(errors="replace")
            parse = _parse_deb822 if path.suffix == ".sources" else _parse_one_line
            for uri, suites, components, signed_by in parse(text):
                if "main" in components and any(_is_plain(suite) for suite in suites):
                    return Mirror(uri, signed_by)
    return None


def _is_plain(suite: str) -> bool:
    """Return True for a release's own suite, not its security or updates suite."""
    return "-" not in suite and "/" not in suite


def _parse_deb822(text: str):
    """Yield (URI, suites, components, keyring) of each enabled stanza of a `.sources` file."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for stanza in re.split(r"\n\s*\n", "\n".join(lines)):
        fields = dict(re.findall(r"^([\w-]+):[ \t]*(.*(?:\n[ \t].*)*)", stanza, re.MULTILINE))
        fields = {key.lower(): value for key, value in fields.items()}
        if "uris" not in fields or fields.get("enabled", "yes").strip().lower() in ("no", "false"):
            continue
        signed_by = fields.get("signed-by", "").strip()
        yield (
            fields["uris"].split()[0],
            fields.get("suites", "").split(),
            fields.get("components", "").split(),
            # An inline key has no path; the system trusts Debian's keyring anyway.
            signed_by if signed_by.startswith("/") and "\n" not in signed_by else "",
        )


def _parse_one_line(text: str):
    """Yield (URI, suites, components, keyring) of each line of a `.list` file."""
    for line in text.splitlines():
        match = ONE_LINE.match(line.split("#")[0].strip())
        if match:
            options, uri, suite, components = match.groups()
            signed_by = re.search(r"signed-by=(\S+)", options or "")
            yield uri, [suite], components.split(), signed_by.group(1) if signed_by else ""


def download_source(package: str, suite: str, folder: Path) -> Path:
    """Download the upstream archive of `package` in Debian's `suite` into `folder`."""
    return _download(["source", "--download-only"], package, "_*.orig.tar.*", suite, folder)


def download_binary(package: str, suite: str, folder: Path) -> Path:
    """Download the .deb of `package` in Debian's `suite` into `folder`."""
    return _download(["download"], package, "_*.deb", suite, folder)


def _download(verb: list[str], package: str, pattern: str, suite: str, folder: Path) -> Path:
    """Run apt-get to download a package; return the resulting file.

    Args:
        verb: command of apt-get.
        package: name of the package.
        pattern: end of the file's name, a glob.
        suite: the Debian release.
        folder: the file's folder, also for apt's lists.
    """
    mirror = find_mirror()
    if mirror is None or not shutil.which("apt-get"):
        raise TargetError("this system has no Debian mirror in its apt sources")
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    options = f"[signed-by={mirror.signed_by}] " if mirror.signed_by else ""
    kind = "deb-src" if verb[0] == "source" else "deb"
    (folder / "private.list").write_text(f"{kind} {options}{mirror.uri} {suite} main\n")
    apt = ["apt-get", "-q"]
    for option in (
        f"Dir::Etc::sourcelist={folder}/private.list",
        "Dir::Etc::sourceparts=-",
        f"Dir::State::Lists={folder}/lists",
        f"Dir::Cache={folder}/cache",
        "APT::Sandbox::User=root",  # its unprivileged user cannot write to a home's cache
    ):
        apt += ["-o", option]
    _quietly([*apt, "update"], folder)
    _quietly([*apt, *verb, package], folder)
    files = sorted(folder.glob(package + pattern))
    if not files:
        raise TargetError(f"apt-get did not download {package}{pattern}")
    return files[0]


def _quietly(command: list[str], folder: Path) -> None:
    """Run apt-get in `folder`; raise TargetError with its last line if it fails."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"LC_ALL": "C"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise TargetError(f"apt-get: {(done.stdout.strip().splitlines() or ['failed'])[-1]}")
