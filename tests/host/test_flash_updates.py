"""Updates of the package on a board: what they refuse, keep, and roll back."""

import os
import shutil

import pytest

from tests.host.fake_board import Journal
from tests.host.releases import EARLIER, NEXT, NOW, OLD, UPDATES, Release
from tools import seal
from tools.deploy import device as devices

LONG = bool(os.environ.get("MPCONNXR_LONG"))
NEW = UPDATES["format"]


@pytest.mark.slow
def test_an_unverified_new_format_changes_nothing(bench, monkeypatch, capsys):
    bench.begin(EARLIER, OLD)
    before = files_in_use(bench)
    with monkeypatch.context() as patch:
        patch.setattr(devices, "_VERIFY", devices._VERIFY.replace("int(r.ok)", "0"))
        assert bench.flash(NEW) == 1
    assert "NOT verified" in capsys.readouterr().out
    assert bench.prints() == OLD.prints
    assert files_in_use(bench) == before
    assert bench.flash(NEW) == 0
    assert "copied    0 of" in capsys.readouterr().out
    assert bench.prints() == NEW.prints


def files_in_use(bench):
    """Return the files of the imported code and of the loaded model."""
    place = "mpconnxr" if (bench.folder / "mpconnxr").exists() else "mpconnxr_b"
    slot = (bench.folder / "model.active").read_text()
    paths = [*(bench.folder / place).rglob("*"), bench.folder / f"model.{slot}.bin"]
    paths += [bench.folder / "model.active", *bench.folder.glob("mpconnxr.*")]
    return {path: path.read_bytes() for path in paths if path.is_file()}


@pytest.mark.slow
def test_a_rollback_restores_the_code_too(bench, capsys):
    bench.begin(OLD, NEW)
    assert bench.flash(NEW, "--rollback") == 0
    assert "code      the previous package" in capsys.readouterr().out
    assert bench.prints() == OLD.prints
    assert bench.flash(NEW, "--rollback", "--no-verify") == 0
    assert bench.prints() == NEW.prints
    assert bench.flash(NEW) == 0
    assert "copied    0 of" in capsys.readouterr().out


@pytest.mark.slow
def test_a_file_copied_by_hand_stays_until_the_switch(bench, capsys):
    """It hides the slots from the old code, and from the new one, which could not read it."""
    bench.begin(OLD)
    shutil.move(bench.folder / "model.a.bin", bench.folder / "model.bin")
    (bench.folder / "model.active").unlink()
    assert bench.prints() == OLD.prints
    shutil.copytree(bench.folder, now := bench.folder.with_name("now"))
    journal = bench.folder.with_name("journal")
    assert bench.flash(NEW, journal=journal) == 0
    seen = [bench.prints(now) for _ in Journal(journal, bench.folder).states(now)]
    assert set(seen) == {OLD.prints, NEW.prints}
    assert not (bench.folder / "model.bin").exists()
    assert (bench.folder / "model.active").exists()


def deployed_as(bench, release, name):
    """Return the exit status for the model of a release under another name."""
    original, bench.model = bench.model, bench.model.with_name(name)
    try:
        return bench.flash(release)
    finally:
        bench.model = original


@pytest.mark.slow
def test_models_that_the_new_code_cannot_read_are_named_first(bench, capsys):
    bench.begin(OLD)
    assert deployed_as(bench, OLD, "other.bin") == 0
    before = {p: p.read_bytes() for p in bench.folder.rglob("*") if p.is_file()}
    assert bench.flash(NEW) == 1
    err = capsys.readouterr().err
    assert f"/other.a.bin (format {NOW}, the new code reads {NEXT})" in err and "--strand" in err
    assert {p: p.read_bytes() for p in bench.folder.rglob("*") if p.is_file()} == before
    assert bench.flash(NEW, "--strand") == 0
    assert "stranded  " in capsys.readouterr().out
    assert bench.prints() == NEW.prints


@pytest.mark.slow
def test_other_models_get_the_new_code_too(bench):
    """They get their kernels, also those that this model does not need."""
    bench.begin(OLD)
    assert deployed_as(bench, Release(2, NOW, "Abs"), "other.bin") == 0
    assert bench.flash(UPDATES["code"]) == 0
    program = "import mpconnxr\nprint(list(mpconnxr.load('other.bin').run([1.0, -2.0])[0].data))"
    printed = bench.runs(program)
    assert printed == "[1.0, 2.0]"


@pytest.mark.slow
def test_a_module_that_a_program_needs_is_kept(bench):
    bench.begin(OLD)
    assert bench.flash(OLD, "--with", "audio") == 0
    assert bench.flash(UPDATES["code"]) == 0
    assert (bench.folder / "mpconnxr_b" / "mpconnxr" / "io" / "audio.mpy").exists()
    assert bench.runs("from mpconnxr.io.audio import LogMel\nprint(1)") == "1"


@pytest.mark.slow
@pytest.mark.parametrize("update", ["model", "format"])
def test_a_full_file_system_at_any_write_leaves_the_old_model(update, bench, capsys):
    """What was written is removed again, and the message says so."""
    before, new = bench.begin(OLD), UPDATES[update]
    path = bench.folder.with_name("journal")
    assert bench.flash(new, journal=path) == 0
    operations = Journal(path, bench.folder).operations
    writes = sum(name == "write" for name, *_ in operations)
    points = [n for n in range(1, writes + 1) if LONG or n % 20 == 1 or n > writes - 5]
    for n in points:
        bench.set(before)
        capsys.readouterr()
        assert bench.flash(new, full=n) == 1, n
        assert capsys.readouterr().err.startswith("flash: the board's file system is full"), n
        assert bench.prints() == OLD.prints, n
        assert names(bench.folder) == names(before), n
    assert len(points) >= (2 if update == "model" else 8)
    assert bench.flash(new) == 0


def names(folder):
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize("pointer", [None, "b"])
def test_a_slot_without_its_pointer_stays_active(pointer, bench, monkeypatch):
    """Only slot b exists: a model in slot a would precede it, verified or not."""
    bench.begin(EARLIER, OLD)
    (bench.folder / "model.a.bin").unlink()
    if not pointer:
        (bench.folder / "model.active").unlink()
    monkeypatch.setattr(devices, "_VERIFY", devices._VERIFY.replace("int(r.ok)", "0"))
    assert bench.flash(UPDATES["model"]) == 1
    assert bench.prints() == OLD.prints


def test_another_board_after_a_reset_is_refused(bench, capsys):
    before = bench.begin(OLD)
    assert bench.flash(NEW, swap=2) == 1
    assert "a different board answers now" in capsys.readouterr().err
    assert bench.prints() == OLD.prints
    assert files_in_use(bench)
    assert before


def test_an_unexpected_board_is_refused(bench, capsys):
    assert bench.flash(OLD, "--board", "pico") == 1
    assert "--board pico, but the board says linux" in capsys.readouterr().err
    assert names(bench.folder) == set()


def test_a_truncated_module_is_never_imported(bench):
    """At any time all .mpy files are either old or final ones."""
    before = bench.begin(OLD)
    journal = bench.folder.with_name("journal")
    assert bench.flash(NEW, journal=journal) == 0
    whole = {p.read_bytes() for f in (before, bench.folder) for p in f.rglob("*.mpy")}
    shutil.copytree(before, now := bench.folder.with_name("now"))
    seen = 0
    for n, operation, _ in Journal(journal, bench.folder).states(now):
        if operation[0] in ("rename", "close"):
            seen += 1
            assert {p.read_bytes() for p in now.rglob("*.mpy")} <= whole, (n, operation)
    assert seen > 50


@pytest.mark.slow
def test_a_package_in_lib_is_updated_in_slot_b(bench):
    """mip installs to /lib, which a folder would hide before it is complete."""
    bench.begin(OLD)
    (bench.folder / "lib").mkdir()
    shutil.move(bench.folder / "mpconnxr", bench.folder / "lib" / "mpconnxr")
    assert bench.flash(UPDATES["both"]) == 0
    assert (bench.folder / "mpconnxr_b" / "mpconnxr").is_dir()
    assert bench.prints() == UPDATES["both"].prints


def test_a_reset_during_an_update_is_one_line(bench, monkeypatch, capsys):
    real = devices.Device.put

    def forgets(device, *args):
        device.execute("del put")
        real(device, *args)

    monkeypatch.setattr(devices.Device, "put", forgets)
    assert bench.flash(OLD) == 1
    assert "flash: the board was reset meanwhile" in capsys.readouterr().err


@pytest.mark.slow
def test_an_older_release_is_refused(bench, capsys):
    """The counter in its seal is readable without a key."""
    plain = dict(bench.models)
    sealed = {
        op: seal.sealed(plain[op], seal.Keys(hmac=b"k" * 32), n) for n, op in enumerate(plain, 5)
    }
    bench.models = sealed
    first, later = (Release(2, NOW, op) for op in list(plain)[:2])
    assert bench.flash(first) == 0
    assert bench.flash(later) == 0
    before = names(bench.folder)
    for options in ([], ["--no-verify"], ["--rollback"]):
        capsys.readouterr()
        assert bench.flash(first, *options) == 1
        err = capsys.readouterr().err
        assert "older release" in err and "--older" in err
        assert bench.prints() == later.prints and names(bench.folder) == before
    bench.models = plain
    assert bench.flash(first) == 1  # none is older than any
    bench.models = sealed
    assert bench.flash(first, "--rollback", "--older") == 0
    assert bench.prints() == first.prints
    assert bench.flash(first) == 0


def test_names_that_differ_only_in_case_are_refused(bench, capsys):
    """They are one file on FAT."""
    bench.begin(OLD)
    assert deployed_as(bench, OLD, "Model.bin") == 1
    assert "in case alone: rename it" in capsys.readouterr().err
    assert bench.prints() == OLD.prints


@pytest.mark.slow
def test_a_power_cut_during_a_rollback_leaves_a_model(bench):
    """The old format's code knows nothing of the new model."""
    bench.begin(OLD, NEW)
    shutil.copytree(bench.folder, now := bench.folder.with_name("now"))
    journal = bench.folder.with_name("journal")
    assert bench.flash(NEW, "--rollback", journal=journal) == 0
    seen = []
    for n, operation, converted in Journal(journal, bench.folder).states(now):
        seen.append(bench.prints(now))
        assert seen[-1] in (OLD.prints, NEW.prints), (n, operation, converted)
        bench.set(now)
        assert bench.flash(NEW) == 0
        assert bench.prints() == NEW.prints, (n, operation, converted)
    assert len(seen) >= 8 and (seen[0], seen[-1]) == (NEW.prints, OLD.prints)


def test_a_dry_run_of_an_update_changes_nothing(bench, capsys):
    before = bench.begin(OLD)
    assert bench.flash(NEW, "--dry-run") == 0
    assert "would copy" in capsys.readouterr().out
    assert names(bench.folder) == names(before)


@pytest.mark.slow
def test_a_folder_with_two_names_is_not_emptied(bench, capsys):
    """FAT may leave two names of the files in use after a rename."""
    bench.begin(OLD)
    (bench.folder / "mpconnxr_a").mkdir()
    (bench.folder / "mpconnxr_a" / "mpconnxr").symlink_to(bench.folder / "mpconnxr")
    before = names(bench.folder)
    assert bench.flash(NEW) == 1
    assert "are one folder" in capsys.readouterr().err
    assert names(bench.folder) == before
    assert bench.prints() == OLD.prints


@pytest.mark.slow
def test_dir_holds_both_slots(bench):
    where = bench.folder / "apps"
    where.mkdir()
    for release in (OLD, NEW):
        assert bench.flash(release, "--dir", str(where)) == 0
        assert bench.prints(where) == release.prints
    assert names(bench.folder) == {f"apps/{name}" for name in names(where)}
