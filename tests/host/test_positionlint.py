"""Loops name their parameters: `make lint` finds those that do not."""

import pytest

from tools import positionlint


@pytest.mark.parametrize(
    "text", ["v = p[3]", "a, b = p[3:5]", "p[1 + 2] = 0", "v = x[p[2] + 1]", "v = p[:4]"]
)
def test_numbers_are_found_in_python(text):
    assert list(positionlint.in_python(text))


@pytest.mark.parametrize("text", ["v = p[_ROWS]", "k = 3\nv = p[k]", "v = x[3]", "p[i + 1] = 0"])
def test_names_are_accepted(text):
    assert not list(positionlint.in_python(text))


def test_numbers_are_found_in_kernels():
    result = positionlint.in_kernel("self.p[7] = 1\nv = node.params[3]\nself.copy_p[2] = p[_ROWS]")
    assert [what for _, what in result] == ["self.p[7]", "self.copy_p[2]"]


def test_numbers_are_found_in_c():
    result = positionlint.in_assembler("int a = p[p_rows];\nint b = p[7] + 1;\n//> if p[ 2]:")
    assert [line for line, _ in result] == [2, 3]


def test_no_loop_uses_numbers(capsys):
    assert positionlint.main() == 0, capsys.readouterr().out
