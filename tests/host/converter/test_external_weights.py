"""Large constants beside a model: the file is the same as without."""

import hashlib

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from tests.device.networks import NETWORKS
from tests.host.converter import large_models
from tools.converter import external_weights, ir_weights
from tools.converter.convert import Options, convert
from tools.converter.external_weights import ExternalWeights
from tools.converter.file import writer

MODELS = {name: lambda name=name: NETWORKS[name]().model for name in NETWORKS} | {
    "gemms": lambda: large_models.gemms(64, 3),
    "convolutions": lambda: large_models.convolutions(24, 2),
    "Gemm of integers": lambda: large_models.int8(96, 2),
}


@pytest.fixture
def sizes(monkeypatch):
    """Set the number of bytes from which constants are large."""

    def set_to(nbytes):
        monkeypatch.setattr(external_weights, "LEAST", nbytes)
        monkeypatch.setattr(external_weights, "LEAST_MODEL", nbytes)
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
    assert other.model == usual.model and not usual.weights
    is_forest = name == "random forest"  # its numbers are attributes
    assert is_forest or other.weights


def test_a_small_model_stays_as_it_is():
    model = large_models.gemms(8, 1)
    assert ExternalWeights().with_placeholders(model) is model
    array, like = np.zeros(1 << 20, np.float32), model.graph.initializer[0]
    new = external_weights.tensor_of(array, "a", like)
    assert new == numpy_helper.from_array(array, "a")


def test_placeholders_have_all_but_the_contents(sizes):
    sizes(64)
    model = large_models.gemms(8, 1)
    model.graph.initializer[0].doc_string = "weights"
    weights = ExternalWeights()
    small_model = weights.with_placeholders(model)
    assert small_model.ByteSize() < model.ByteSize()
    large, small = small_model.graph.initializer
    assert (large.doc_string, list(large.dims)) == ("weights", [8, 8])
    assert small == model.graph.initializer[1]
    expected = numpy_helper.to_array(model.graph.initializer[0])
    assert (external_weights.array_of(large) == expected).all()
    assert external_weights.nbytes_of(large) == expected.nbytes
    again = ir_weights.from_ir(ir_weights.to_ir(small_model))
    assert list(again.graph.initializer) == list(small_model.graph.initializer)
    assert external_weights.without_placeholders(small_model) == model


def test_new_constants_get_placeholders_beside_others(sizes):
    sizes(64)
    weights = ExternalWeights()
    model = weights.with_placeholders(large_models.gemms(8, 1))
    array = np.arange(64, dtype=np.float32)
    new = external_weights.tensor_of(array, "new", model.graph.initializer[0])
    assert len(weights) == 2 and not new.raw_data
    assert (external_weights.array_of(new) == array).all()


def test_arrays_of_former_models_go(sizes):
    sizes(64)
    weights = ExternalWeights()
    first = weights.with_placeholders(large_models.gemms(8, 1))
    second = weights.with_placeholders(large_models.gemms(8, 2))
    assert len(weights) == 3
    weights.release_others(second)
    assert len(weights) == 2
    with pytest.raises(KeyError):
        external_weights.array_of(first.graph.initializer[0])


def test_arrays_go_with_their_owner(sizes):
    sizes(64)
    weights = ExternalWeights()
    model = weights.with_placeholders(large_models.gemms(8, 1))
    del weights
    with pytest.raises(KeyError):
        external_weights.array_of(model.graph.initializer[0])


def test_a_digest_is_of_the_bytes():
    array = np.arange(1 << 15, dtype=np.float32)
    assert external_weights.digest_of(array) == hashlib.sha256(array.tobytes()).digest()
    assert external_weights.digest_of(array[:4]) == array[:4].tobytes()
    assert external_weights.digest_of(array[::2]) == hashlib.sha256(array[::2].tobytes()).digest()


def test_a_saved_model_has_all_constants(tmp_path, sizes):
    sizes(64)
    done = convert(large_models.gemms(16, 2), Options())
    onnx.save(done.model, tmp_path / "m.onnx")
    assert not any(t.external_data for t in onnx.load(tmp_path / "m.onnx").graph.initializer)
