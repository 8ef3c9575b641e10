"""Large constants beside a model: the file is the same as without."""

import hashlib

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from tests.device.networks import NETWORKS
from tests.host.converter import large_models
from tools.converter import aside
from tools.converter.convert import Options, convert
from tools.converter.file import writer

MODELS = {name: lambda name=name: NETWORKS[name]().model for name in NETWORKS} | {
    "gemms": lambda: large_models.gemms(64, 3),
    "convolutions": lambda: large_models.convolutions(24, 2),
    "Gemm of integers": lambda: large_models.int8(96, 2),
}


@pytest.fixture
def sizes(monkeypatch):
    """Sets how many bytes are large."""

    def set_to(nbytes):
        monkeypatch.setattr(aside, "LEAST", nbytes)
        monkeypatch.setattr(aside, "LEAST_MODEL", nbytes)
        monkeypatch.setattr(writer, "_LARGE", nbytes)

    return set_to


@pytest.mark.parametrize("name", MODELS)
def test_the_file_is_the_same(name, sizes):
    model, found = MODELS[name](), []
    for nbytes in (1 << 40, 32):
        sizes(nbytes)
        found.append(convert(model, Options(window=1 << 20)))
    usual, other = found
    assert other.data == usual.data and other.notes == usual.notes
    assert other.model == usual.model and not usual.constants
    is_forest = name == "random forest"  # its numbers are attributes
    assert is_forest or other.constants


def test_a_small_model_stays_as_it_is():
    model = large_models.gemms(8, 1)
    with aside.kept():
        assert aside.with_stand_ins(model) is model
        array = np.zeros(1 << 20, np.float32)
        assert aside.tensor_of(array, "a") == numpy_helper.from_array(array, "a")


def test_stand_ins_have_all_but_the_contents(sizes):
    sizes(64)
    model = large_models.gemms(8, 1)
    model.graph.initializer[0].doc_string = "weights"
    with aside.kept():
        found = aside.with_stand_ins(model)
        assert found.ByteSize() < model.ByteSize()
        large, small = found.graph.initializer
        assert (large.doc_string, list(large.dims)) == ("weights", [8, 8])
        assert small == model.graph.initializer[1]
        wanted = numpy_helper.to_array(model.graph.initializer[0])
        assert (aside.array_of(large) == wanted).all()
        assert aside.nbytes_of(large) == wanted.nbytes
        again = aside.from_ir(aside.to_ir(found))
        assert list(again.graph.initializer) == list(found.graph.initializer)
        assert aside.filled(found, aside.constants_of(found)) == model


def test_arrays_of_former_models_go(sizes):
    sizes(64)
    with aside.kept() as arrays:
        first = aside.with_stand_ins(large_models.gemms(8, 1))
        second = aside.with_stand_ins(large_models.gemms(8, 2))
        assert len(arrays) == 3
        aside.keep_those_of(second)
        assert len(arrays) == 2
        with pytest.raises(KeyError):
            aside.array_of(first.graph.initializer[0])


def test_a_digest_is_of_the_bytes():
    array = np.arange(1 << 15, dtype=np.float32)
    assert aside.digest_of(array) == hashlib.sha256(array.tobytes()).digest()
    assert aside.digest_of(array[:4]) == array[:4].tobytes()
    assert aside.digest_of(array[::2]) == hashlib.sha256(array[::2].tobytes()).digest()


def test_a_saved_model_has_all_constants(tmp_path, sizes):
    sizes(64)
    done = convert(large_models.gemms(16, 2), Options())
    onnx.save(done.model, tmp_path / "m.onnx")
    assert not any(t.external_data for t in onnx.load(tmp_path / "m.onnx").graph.initializer)
