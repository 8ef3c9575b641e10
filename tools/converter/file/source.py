"""Where a model came from, for people and for those who look after many boards."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import onnx


def source_chunk(origin: Path | onnx.ModelProto, model: onnx.ModelProto) -> bytes:
    """Contents of the source chunk: one JSON object in UTF-8, keys sorted, absent where unknown.

    origin: the .onnx, whose sha256 is given (not that of data beside it); or a model in memory,
    which has none. Nothing that names a person, machine or folder is added to what the model says.
    """
    about = {
        "producer": f"{model.producer_name} {model.producer_version}".strip(),
        "graph": model.graph.name,
        "ir_version": model.ir_version,
        "opset": {o.domain or "ai.onnx": o.version for o in model.opset_import},
    }
    if isinstance(origin, Path):
        with origin.open("rb") as file:
            about["sha256"] = hashlib.file_digest(file, "sha256").hexdigest()
    known = {key: value for key, value in about.items() if value}
    return json.dumps(known, sort_keys=True, ensure_ascii=False).encode()
