"""A source is fetched and a port built once, whoever needs it; a failure says why."""

import subprocess
import sys

import pytest

from tools.micropython import TargetError, recipe, source
from tools.micropython.recipe import Recipe
from tools.micropython.source import Library

MAKEFILE = """
BUILD ?= build-standard
all:
	mkdir -p $(BUILD)
	echo $(WORD) $(CFLAGS_EXTRA) > $(BUILD)/product
	echo once >> $(COUNT)
"""


@pytest.fixture
def counter(tmp_path, monkeypatch):
    """Return a file to which each build of a fake MicroPython source adds a line."""
    tree = tmp_path / "source"
    for name, text in {"py/mpconfig.h": "", "ports/unix/Makefile": MAKEFILE}.items():
        (tree / name).parent.mkdir(parents=True)
        (tree / name).write_text(text)
    monkeypatch.setenv("MPCONNXR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MICROPYTHON_SRC", str(tree))
    source.source_key.cache_clear()
    yield tmp_path / "count"
    source.source_key.cache_clear()


def test_a_port_is_built_once(counter, tmp_path):
    plain = Recipe("unix", "product", (f"COUNT={counter}", "WORD=hello"), "-DX=1")
    path = plain.build("some")
    assert path == plain.build("some") == plain.path("some")
    assert path.read_text() == "hello -Wno-error -DX=1\n"
    assert counter.read_text() == "once\n"
    other = Recipe("unix", "product", (f"COUNT={counter}", "WORD=other"))
    assert other.build("some") != path
    assert counter.read_text() == "once\nonce\n"
    # The tree it was built in is gone.
    assert not list((tmp_path / "cache").glob("build-*"))


def test_the_files_of_a_board_are_part_of_its_build(tmp_path, monkeypatch):
    for name in ("SOME", "other", "shared"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "start.c").touch()
    (tmp_path / "SOME" / "mpconfigboard.mk").write_text("include $(BOARD_DIR)/../shared/all.mk\n")
    monkeypatch.setattr(recipe, "BOARDS", tmp_path)
    some = Recipe("qemu", "firmware.elf", board="SOME")
    paths = [some.path("some")]
    for name in ("other", "SOME", "shared"):
        (tmp_path / name / "start.c").write_text("changed")
        paths.append(some.path("some"))
    assert paths[0] == paths[1] and len(set(paths)) == 3


def test_several_processes_build_a_port_once(counter):
    options = (f"COUNT={counter}", "WORD=hello")
    code = (
        "from tools.micropython.recipe import Recipe\n"
        f"print(Recipe('unix', 'product', {options!r}).build('some'))"
    )
    command = [sys.executable, "-c", code]
    several = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    paths = {process.communicate()[0] for process in several}
    assert len(paths) == 1 and "product" in paths.pop()
    assert counter.read_text() == "once\n"


def test_a_failed_build_shows_the_log(counter):
    broken = Recipe("unix", "product", ("COUNT=/dev/null/no", "WORD=hello"))
    with pytest.raises(TargetError, match="(?s)building some failed, see .*log\n.*Error "):
        broken.build("some")
    assert not broken.path("some").exists()


def test_a_wrong_source_folder_is_named(counter, tmp_path, monkeypatch):
    monkeypatch.setenv("MICROPYTHON_SRC", str(tmp_path))
    with pytest.raises(TargetError, match="MICROPYTHON_SRC"):
        source.source_tree()


def test_the_source_comes_from_git_if_nothing_else_has_it(counter, tmp_path, monkeypatch):
    """If there is no Debian mirror, the pinned tag of the repository is built."""
    tree = tmp_path / "source"
    git = ["git", "-C", str(tree), "-c", "user.name=x", "-c", "user.email=x@example.invalid"]
    tag = ["tag", f"v{source.VERSION}"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "x"], tag):
        subprocess.run([*git, *arguments], check=True)
    monkeypatch.delenv("MICROPYTHON_SRC")
    monkeypatch.setattr(source, "REPOSITORY", tree.as_uri())
    monkeypatch.setattr(source, "download_source", _refuse)
    fetched = source.source_tree()
    assert (fetched / "ports" / "unix" / "Makefile").is_file()
    monkeypatch.setattr(source, "REPOSITORY", "unused")
    assert source.source_tree() == fetched


def test_libraries_are_fetched_once_unless_the_source_has_them(counter, tmp_path, monkeypatch):
    repository = tmp_path / "repository"
    repository.mkdir()
    (repository / "library.h").touch()
    git = ["git", "-C", str(repository), "-c", "user.name=x", "-c", "user.email=x@example.invalid"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "x"], ["tag", "v1"]):
        subprocess.run([*git, *arguments], check=True)
    monkeypatch.setattr(source, "download_binary", _refuse)
    library = Library("tinyusb", "some-package", "usr/src", repository.as_uri(), "v1")
    makefile = tmp_path / "source" / "ports" / "unix" / "Makefile"
    makefile.write_text(MAKEFILE + "\tls ../../lib/tinyusb >> $(COUNT)\n")
    built = Recipe("unix", "product", (f"COUNT={counter}",), libraries=(library,))
    built.build("some")
    assert counter.read_text().split() == ["once", "library.h"]
    (tmp_path / "source" / "lib" / "tinyusb").mkdir(parents=True)
    (tmp_path / "source" / "lib" / "tinyusb" / "own.h").touch()
    built.build("other")
    assert counter.read_text().split() == ["once", "library.h", "once", "own.h"]


def test_a_missing_source_names_the_variable_to_set(counter, tmp_path, monkeypatch):
    monkeypatch.delenv("MICROPYTHON_SRC")
    monkeypatch.setattr(source, "REPOSITORY", (tmp_path / "nothing").as_uri())
    monkeypatch.setattr(source, "download_source", _refuse)
    with pytest.raises(TargetError, match="no mirror; git: .*set MICROPYTHON_SRC"):
        source.source_tree()


def test_user_builds_are_kept_apart(counter, monkeypatch):
    own = recipe.source_key()
    monkeypatch.delenv("MICROPYTHON_SRC")
    source.source_key.cache_clear()
    assert own.startswith("user-") and recipe.source_key() == source.VERSION


def _refuse(*args):
    raise TargetError("no mirror")
