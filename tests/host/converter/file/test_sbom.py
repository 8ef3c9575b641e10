"""Bills of materials are valid CycloneDX of the right files, and builds are reproducible."""

import hashlib
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import onnx
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tests.host.device import small
from tools import seal
from tools.converter import __main__ as converter
from tools.converter.convert import Options, convert


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def files(tmp_path):
    """Return a folder with a model with external data and an input to bind."""
    model = small.mixed()
    proto = onnx.ModelProto()
    proto.CopyFrom(model)
    onnx.save(
        proto,
        tmp_path / "m.onnx",
        save_as_external_data=True,
        location="m.data",
        size_threshold=0,
    )
    np.save(tmp_path / "x.npy", small.floats(1, 2, 5, 6))
    return tmp_path


def bill_of(folder, *args):
    made = [folder / "m.onnx", folder / "m.bin", "--sbom", folder / "m.json", *args]
    assert converter.main([*map(str, made)]) == 0
    text = (folder / "m.json").read_text()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    return json.loads(text)


def properties(component):
    return {p["name"]: p["value"] for p in component["properties"]}


def test_a_bill_lists_the_file_and_its_sources(files):
    result = bill_of(files, "--golden", files / "x.npy", "--weights", "int8", "--strip")
    made = result["metadata"]["component"]
    data = (files / "m.bin").read_bytes()
    assert (made["name"], made["type"]) == ("m.bin", "machine-learning-model")
    assert made["hashes"] == [{"alg": "SHA-256", "content": sha256(files / "m.bin")}]
    assert properties(made)["mpconnxr:digest"] == seal.digest(data).hex()
    parts = {part["name"]: part for part in result["components"]}
    assert set(parts) == {"m.onnx", "m.data", "x.npy"}
    for name, part in parts.items():
        assert part["hashes"] == [{"alg": "SHA-256", "content": sha256(files / name)}]
    about = properties(parts["m.onnx"])
    assert about["onnx:producer_name"] == "small" and about["onnx:opset:ai.onnx"] == "17"
    options = properties(result["metadata"])
    assert options["mpconnxr:option:weights"] == "int8"
    assert options["mpconnxr:option:strip"] == "True"
    assert "mpconnxr:option:optimize" not in options
    tools = {tool["name"]: tool for tool in result["metadata"]["tools"]["components"]}
    assert {"mpconnxr tools.converter", "onnx", "numpy", "Python"} <= set(tools)
    assert tools["onnx"]["purl"] == f"pkg:pypi/onnx@{onnx.__version__}"
    needs = {d["ref"]: d.get("dependsOn", []) for d in result["dependencies"]}
    onnx_ref = parts["m.onnx"]["bom-ref"]
    assert set(needs[made["bom-ref"]]) == {onnx_ref, parts["x.npy"]["bom-ref"]}
    assert needs[onnx_ref] == [parts["m.data"]["bom-ref"]]


def test_the_timestamp_is_the_source_date(files, monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert "timestamp" not in bill_of(files)["metadata"]
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert bill_of(files)["metadata"]["timestamp"] == "2023-11-14T22:13:20+00:00"


def test_a_bill_names_the_key_but_not_its_path(files):
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    how = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    path = files / "very-secret.pem"
    path.write_bytes(key.private_bytes(serialization.Encoding.PEM, *how))
    result = bill_of(files, "--sign", path, "--counter", 4)
    about = properties(result["metadata"]["component"])
    assert about["mpconnxr:counter"] == "4" and len(about["mpconnxr:key"]) == 64
    text = (files / "m.json").read_text()
    assert "very-secret" not in text and str(files) not in text


def test_a_missing_package_is_reported_before_the_conversion(files, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "cyclonedx", None)
    args = [files / "m.onnx", files / "m.bin", "--sbom", files / "m.json"]
    assert converter.main([*map(str, args)]) == 2
    assert "pip install cyclonedx-python-lib" in capsys.readouterr().err
    assert not (files / "m.bin").exists()


OPTIONS = [
    [],
    ["--weights", "int8"],
    ["--optimize", "1"],
    ["--float", "fast16", "--strip"],
    ["--quantize", "int8", "--calibration", "x.npy"],
]


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_builds_are_reproducible(files, tmp_path_factory, options):
    """Another folder, process, hash order and time give the same bytes."""
    made = []
    for seed in ("1", "2"):
        folder = tmp_path_factory.mktemp("build")
        for name in ("m.onnx", "m.data", "x.npy"):
            shutil.copy(files / name, folder)
        env = {k: v for k, v in os.environ.items() if k != "SOURCE_DATE_EPOCH"}
        env["PYTHONHASHSEED"] = seed
        args = [folder / "m.onnx", folder / "m.bin", "--sbom", folder / "m.json"]
        args += [folder / o if o == "x.npy" else o for o in options]
        command = [sys.executable, "-m", "tools.converter", *map(str, args)]
        subprocess.run(command, cwd=small.ROOT, env=env, check=True, capture_output=True)
        made.append([(folder / name).read_bytes() for name in ("m.bin", "m.json")])
    assert made[0] == made[1]


def test_two_builds_in_one_process_are_equal():
    assert convert(small.mixed()).data == convert(small.mixed()).data
    quick = Options(weights="int8")
    assert convert(small.mixed(), quick).data == convert(small.mixed(), quick).data
