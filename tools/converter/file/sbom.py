"""Write a CycloneDX 1.6 bill of materials for a model file (--sbom FILE).

The same model and options give the same bytes: the serial number is derived from the contents, and
a time is included only if SOURCE_DATE_EPOCH gives one. Folders and keys are not included.
"""

from __future__ import annotations

import datetime
import hashlib
import importlib.metadata
import json
import os
import platform
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mpconnxr import __version__
from tools import seal
from tools.format import layout, reader

from ..errors import UsageError
from ..load import external

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:mpconnxr:sbom")
_LIBRARIES = ("onnx", "onnx-ir", "onnxscript", "onnxruntime", "numpy", "ml_dtypes")
_PREFIX = "mpconnxr:"
_SECRET = ("seal",)  # option with keys; the file itself says who signed it


def check() -> None:
    """Check that the package which writes bills of materials is installed.

    Raises:
        UsageError: if it is not.
    """
    try:
        import cyclonedx  # noqa: F401
    except ImportError:
        raise UsageError(
            "--sbom needs the package cyclonedx-python-lib: pip install cyclonedx-python-lib"
        ) from None


def bill(source: Path, name: str, data: bytes, options: Any, files: Iterable[Path] = ()) -> str:
    """Return the bill of materials as JSON.

    Args:
        source: the .onnx.
        name: name of the model file.
        data: bytes of the model file.
        options: convert.Options.
        files: files that the options name, such as calibration data.
    """
    from cyclonedx.model.bom import Bom
    from cyclonedx.model.dependency import Dependency
    from cyclonedx.output import make_outputter
    from cyclonedx.schema import OutputFormat, SchemaVersion

    model = external.read(source)
    model_component = _model_component(name, data)
    onnx_file = _onnx_file(source, model)
    data_files = sorted(external.files_of(source))
    beside = [_file(p, p.relative_to(source.parent).as_posix(), "data") for p in data_files]
    more = [_file(path, path.name, "data") for path in _all_files(files)]
    parts = [onnx_file, *beside, *more]
    bom = Bom(
        components=parts,
        dependencies=[
            Dependency(
                model_component.bom_ref, [Dependency(part.bom_ref) for part in (onnx_file, *more)]
            ),
            Dependency(onnx_file.bom_ref, [Dependency(part.bom_ref) for part in beside]),
        ],
        metadata=_metadata(model_component, options),
    )
    identity = json.dumps([_explicit(options), hashlib.sha256(data).hexdigest(), name])
    hashes = "".join(h.content for part in parts for h in part.hashes)
    bom.serial_number = uuid.uuid5(_NAMESPACE, identity + hashes)
    return make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=2)


def _metadata(model_component, options):
    from cyclonedx.model.bom import BomMetaData
    from cyclonedx.model.component import Component, ComponentType
    from cyclonedx.model.tool import ToolRepository

    tools = [_component("mpconnxr tools.converter", "application", version=__version__)]
    for name in _LIBRARIES:
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        tools.append(_component(name, "library", version=version, purl=_purl(name, version)))
    python = Component(
        name="Python", type=ComponentType.PLATFORM, version=platform.python_version()
    )
    properties = _properties({f"option:{key}": value for key, value in _explicit(options).items()})
    metadata = BomMetaData(
        component=model_component,
        tools=ToolRepository(components=[*tools, python]),
        properties=properties,
    )
    metadata.timestamp = _time()
    return metadata


def _time():
    """Return the build time in SOURCE_DATE_EPOCH, None if that is not set."""
    text = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not text:
        return None
    try:
        return datetime.datetime.fromtimestamp(int(text), datetime.UTC)
    except (ValueError, OverflowError, OSError):
        raise UsageError(f"SOURCE_DATE_EPOCH={text}: seconds since 1970 are needed") from None


def _model_component(name, data):
    """Return the component of the model file."""
    stored, stored_seal = reader.read(data), seal.seal_of(data)
    about = {
        "format": stored.version,
        "digest": seal.digest(data).hex(),
        "arena_bytes": stored.arena_nbytes,
        "kernels": " ".join(sorted({node.kernel for node in stored.nodes})),
        "golden_vector": any(chunk.kind == layout.CHUNK_GOLDEN for chunk in stored.chunks),
    }
    if stored_seal:
        about["counter"] = stored_seal.counter
        about["key"] = seal.fingerprint(stored_seal.public_key) if stored_seal.is_signed else None
    digest = hashlib.sha256(data).hexdigest()
    properties = _properties(about)
    return _component(name, "machine-learning-model", "model", digest, properties=properties)


def _onnx_file(path, model):
    about = {
        "producer_name": model.producer_name,
        "producer_version": model.producer_version,
        "domain": model.domain,
        "model_version": model.model_version or None,
        "ir_version": model.ir_version,
        "graph": model.graph.name,
    }
    about |= {f"opset:{o.domain or 'ai.onnx'}": o.version for o in model.opset_import}
    return _file(path, path.name, "machine-learning-model", _properties(about, "onnx:"))


def _file(path, name, kind, properties=()):
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return _component(name, kind, f"{name}@{digest[:16]}", digest, properties=properties)


def _component(name, kind, ref=None, sha256=None, **others):
    from cyclonedx.model import HashAlgorithm, HashType
    from cyclonedx.model.component import Component, ComponentType

    hashes = [HashType(alg=HashAlgorithm.SHA_256, content=sha256)] if sha256 else []
    ref = ref or f"{name}@{others['version']}"
    return Component(name=name, type=ComponentType(kind), bom_ref=ref, hashes=hashes, **others)


def _purl(name, version):
    from packageurl import PackageURL

    return PackageURL("pypi", None, name.lower().replace("_", "-"), version)


def _properties(about, prefix=_PREFIX):
    from cyclonedx.model import Property

    known = {key: value for key, value in about.items() if value is not None and value != ""}
    return [Property(name=prefix + key, value=_text(value)) for key, value in known.items()]


def _explicit(options) -> dict[str, str]:
    """Return the options that differ from their defaults, as texts by name."""
    defaults = type(options)()
    result = {}
    for field in fields(options):
        value = getattr(options, field.name)
        text = _text(value)
        if field.name not in _SECRET and text != _text(getattr(defaults, field.name)):
            result[field.name] = text
    return result


def _text(value) -> str:
    """Return a value as text in a fixed form: arrays by their digests, paths without folders."""
    if isinstance(value, np.ndarray):
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"{value.dtype}{list(value.shape)} sha256:{digest}"
    if isinstance(value, Path):
        return value.name
    if is_dataclass(value):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        for name in ("labels", "source"):  # a file's name, perhaps with keys behind it
            if isinstance(parts.get(name), str):
                parts[name] = Path(parts[name])
        return _text({key: part for key, part in parts.items() if part is not None})
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={_text(value[key])}" for key in sorted(value))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(map(_text, value)) + "]"
    return str(value)


def _all_files(paths: Iterable[Path]) -> list[Path]:
    """Return each file once, and for a folder all files in it."""
    result = []
    for path in paths:
        inner = path.rglob("*") if path.is_dir() else [path]
        result += sorted(p for p in inner if p.is_file() and "__pycache__" not in p.parts)
    return list(dict.fromkeys(result))
