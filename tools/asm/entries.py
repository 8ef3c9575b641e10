"""Makes tools/mpy/entries.py: what begins a loop in a .mpy file, as machine code."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tools.elf import Elf

from ..made import ROOT, documented, shown
from .assemble import LINK
from .errors import AsmError
from .forms import FORMS, SOURCES

PATH = ROOT / "tools" / "mpy" / "entries.py"
FORMS_MADE = ("rv32", "xtensawin")
_MOST_ARGUMENTS = 4
_LINE = 80  # hexadecimal digits


def entries_text() -> str:
    """The text of the module. Raises AsmError."""
    what = "What begins a loop in a .mpy file: for a form and a number of arguments."
    lines = [*documented(what, "Machine code, made", shown(SOURCES / "entries" / "entries.h")), ""]
    lines += ["# Offset of the instruction that loads the table of functions, and the code.", ""]
    for form in FORMS_MADE:
        lines.append(f"{form.upper()} = (")
        for n in range(1, _MOST_ARGUMENTS + 1):
            table, code = _assembled(form, n)
            digits = code.hex()
            lines += ["    (", f"        {table},"]
            parts = [digits[i : i + _LINE] for i in range(0, len(digits), _LINE)]
            lines += [f'        "{part}"' for part in parts[:-1]] + [f'        "{parts[-1]}",']
            lines.append("    ),")
        lines += [")", ""]
    lines.append(f"ENTRIES = {{{', '.join(f'{f!r}: {f.upper()}' for f in FORMS_MADE)}}}")
    return "\n".join(lines).replace("'", '"') + "\n"


def _assembled(form: str, arguments: int) -> tuple[int, bytes]:
    core, flags = FORMS[form].core, FORMS[form].flags
    source = SOURCES / "entries" / f"{core.name}.S"
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out.elf")
        done = core.run(*flags, *LINK, f"-DARGUMENTS={arguments}", "-o", out, source)
        if done.returncode:
            raise AsmError(f"{source.name} for {form}:\n{done.stderr.strip()}")
        elf = Elf(out.read_bytes())
    section = elf.sections[elf.number_of(".text")]
    code = elf.data[section.offset : section.offset + section.nbytes]
    return elf.symbols["table"].value, code
