"""`python -m tests.fuzz` has the statuses and messages of the other commands."""

import pytest

from tests.fuzz.__main__ import main


@pytest.mark.parametrize("argv", [("what",), ("model", "--cases", "-1")], ids=" ".join)
def test_wrong_usage_is_two_lines_and_status_2(argv, capsys):
    with pytest.raises(SystemExit) as stop:
        main(list(argv))
    lines = capsys.readouterr().err.splitlines()
    assert stop.value.code == 2 and len(lines) == 2
    assert lines[1].startswith("python -m tests.fuzz") and "--help" in lines[1]


@pytest.mark.parametrize(
    "argv",
    [
        ("summary", "none.json"),
        ("summary", "text"),
        ("summary", "folder"),
        ("calls", "--replay", "text"),
    ],
    ids=" ".join,
)
def test_a_file_that_cannot_be_read_is_status_1_in_one_line(argv, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("no results\n")
    assert main(list(argv)) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and "[Errno" not in lines[0]


@pytest.mark.parametrize("verb", ["model", "onnx", "calls", "summary"])
def test_commands_take_json(verb, capsys):
    with pytest.raises(SystemExit):
        main([verb, "--help"])
    assert "--json" in capsys.readouterr().out
