"""Write the kernels' parameters into docs/kernels.md: python -m tools.converter.kernel_list."""

from __future__ import annotations

from pathlib import Path

from tools import package

from .kernel_parameters import Field, declaration_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "kernels.md"
_BEGIN, _END = "<!-- parameters -->\n", "<!-- end of parameters -->\n"


def kernels() -> list[str]:
    """Return the names of all kernels."""
    files = [p for p in package.KERNELS.glob("[!_]*.py") if "\ndef prepare(" in p.read_text()]
    return sorted(p.stem for p in files)


def page_with_list(page: str) -> str:
    """Return the page with the list that the declarations make."""
    before, _, rest = page.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    lines = ["| kernel | parameters |\n", "|---|---|\n"]
    for kernel in kernels():
        declared = declaration_of(kernel)
        fields = ", ".join(map(_text, declared.fields)) if declared else ""
        none = ", or none" if declared and declared.or_none else ""
        lines.append(f"| `{kernel}` | {fields}{none} |\n".replace("|  |", "| |"))
    return f"{before}{_BEGIN}{''.join(lines)}{_END}{after}"


def _text(f: Field) -> str:
    inside = ", ".join(map(_text, f.parts)) or f.count
    return f"{f.name}[{inside}]" if inside else f.name


if __name__ == "__main__":
    PAGE.write_text(page_with_list(PAGE.read_text()))
