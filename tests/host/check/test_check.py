"""`mpconnxr check` on boards that are MicroPython's unix port, with and without native code."""

import json

import pytest

from tests.host.fake_board import FakeBoard
from tools.check import __main__ as command
from tools.check import loops, models
from tools.deploy.device import Device, Verified


@pytest.fixture
def board(ready_target, tmp_path, request):
    folder = tmp_path / "board"
    folder.mkdir()
    executable = ready_target(getattr(request, "param", "unix32")).build()
    with FakeBoard(executable, folder, heap="1m") as board:
        yield board


def check(board, *argv):
    return command.main([board.port, *map(str, argv)])


@pytest.mark.slow
@pytest.mark.parametrize("board", ["unix32", "unix-plain"], indirect=True)
def test_a_report_covers_all_loops_and_the_selected_models(board, tmp_path, capsys):
    path = tmp_path / "report.json"
    assert check(board, "--calls", 2, "--model", "gesture", "--model", "forest", "-o", path) == 0
    report = json.loads(path.read_text())
    n = sum(report["loops"]["forms"].values())
    assert report["ok"] and not report["loops"]["wrong"]
    assert n == len(loops.expected(list(loops.families()), 1)) > 100
    assert report["board"]["version"][0] == 1 and report["board"]["emulated"] is False
    assert [m["name"] for m in report["models"]] == ["gesture", "forest"]
    for model in report["models"]:
        assert model["ok"] and model["warm_ms"] > 0 and model["heap_bytes"] > 1000
    out = capsys.readouterr().out
    assert f"loops     {n}, 2 calls each: " in out and "gesture   verified, error " in out
    assert not board.files()  # nothing stays


@pytest.mark.parametrize("board", ["unix32"], indirect=True)
def test_deployed_files_stay(board, tmp_path, capsys):
    from tools.converter.convert import Options, convert

    model = tmp_path / "model.bin"
    model.write_bytes(convert(models.EXAMPLES / "gesture" / "gesture.onnx", Options()).data)
    assert board.deploy(model) == 0
    before = board.files()
    assert check(board, "--model", "gesture", "--only", "models") == 0
    assert board.files() == before


def test_a_wrong_loop_is_reported(board, monkeypatch, capsys):
    right = loops.expected

    def other(names, n):
        return {key: "0" if key == ("relu", "relu32") else d for key, d in right(names, n).items()}

    monkeypatch.setattr(loops, "expected", other)
    monkeypatch.setattr(loops, "parts", lambda: [["relu", "clip"]])
    assert check(board, "--only", "loops", "--json") == 1
    result = json.loads(capsys.readouterr().out)
    assert not result["ok"] and [w[:2] for w in result["loops"]["wrong"]] == [["relu", "relu32"]]


def test_a_missing_loop_is_reported(board, monkeypatch, capsys):
    monkeypatch.setattr(loops, "expected", lambda names, n: {("relu", "none"): "0"})
    monkeypatch.setattr(loops, "parts", lambda: [["relu"]])
    assert check(board, "--only", "loops") == 1
    assert "WRONG     relu.none as missing" in capsys.readouterr().out


def test_a_wrong_model_is_reported(board, monkeypatch, capsys):
    wrong = Verified(0.5, 1.0, 0.0001, False, 0.001, 0.002, 9000)
    monkeypatch.setattr(Device, "verify", lambda *_: wrong)
    assert check(board, "--only", "models", "--model", "gesture") == 1
    message = "gesture   WRONG, error 0.5 (at most 0.0001 is right) where values reach 1"
    assert message in capsys.readouterr().out


def test_a_model_that_does_not_load_is_reported(board, monkeypatch, capsys):
    def broken(names):
        yield from (type(m)(**vars(m) | {"data": m.data[:-40]}) for m in results)

    results = list(models.models(("gesture",)))
    monkeypatch.setattr(models, "models", broken)
    assert check(board, "--only", "models", "--model", "gesture") == 1
    assert "gesture   FAILED: " in capsys.readouterr().out


def test_wrong_usage_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit) as e:
        command.main(["nowhere", "--calls", "0"])
    assert e.value.code == 2
    assert command.main([str(tmp_path / "none"), "--json"]) == 1
    assert "none" in json.loads(capsys.readouterr().out)["error"]
