"""Read the model that flash deploys; convert it first if it is an .onnx."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from tools import foreign, limits
from tools.deploy.errors import DeployError
from tools.deploy.model_file import ModelFile, parse_model, read_model
from tools.deploy.reporter import Reporter
from tools.deploy.slots import name_problem
from tools.errors import ConvertError, text_of


def deployable(path: Path, reporter: Reporter) -> ModelFile:
    """Return the model of a .bin, or of an .onnx that is converted with the default options.

    Raises:
        DeployError: if it is neither, is refused, or has a name that boards cannot have.
    """
    name = path.with_suffix(".bin").name if (converts := _is_onnx(path)) else path.name
    if not converts:
        _check(path)
    if problem := name_problem(name):
        raise DeployError(f"{path}: {problem}: rename it")
    if not converts:
        return read_model(path)
    with tempfile.TemporaryDirectory() as folder:
        data, notes = _converted(path, Path(folder))
    about = f"{path} to {name}, {len(data):,} bytes (mpconnxr convert has options for it)"
    reporter.line("convert", about, {"file": str(path), "bytes": len(data), "notes": notes})
    for note in notes:
        reporter.plain(f"note: {note}")
    return parse_model(name, data, path)


def _is_onnx(path):
    try:
        with path.open("rb") as file:
            return foreign.is_onnx(file) or path.suffix == ".onnx"
    except OSError as e:
        raise DeployError(f"{path}: {e.strerror}") from None


def _check(path):
    try:
        foreign.check_bin(path)
    except ConvertError as e:
        raise DeployError(str(e)) from None


def _converted(path, folder):
    """Return the bytes of the converted model, and the converter's notes.

    The converter runs in a process of its own with limits, as for any model from elsewhere.
    """
    from tools.converter.convert import Options, convert

    made, text_file = folder / "model.bin", folder / "text"

    def child():
        limits.apply()
        try:
            converted = convert(path, Options(float64="float32"))
        except (ConvertError, OSError) as e:
            text_file.write_text(text_of(e), encoding="utf-8")
            return 1
        text_file.write_text("\n".join(converted.notes), encoding="utf-8")
        made.write_bytes(converted.data)
        return 0

    report = ""
    if hasattr(os, "fork"):
        report = limits.watch(child, "flash").report
    else:
        child()
    text = text_file.read_text(encoding="utf-8") if text_file.exists() else ""
    if not made.exists():
        why = " ".join((report or text or "the conversion ended without a message").split())
        where = "" if str(path) in why else f"{path}: "
        raise DeployError(f"{where}{why}")
    return made.read_bytes(), text.splitlines()
