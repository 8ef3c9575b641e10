"""The golden vectors of all real models pass, and are so exact that no other class would."""

import numpy as np
import pytest

from tests.host import zoo
from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.format import layout, reader

pytestmark = zoo.needs_zoo
NOT_SCORES = {"mlperf_ad_fc_ae_int8", "mlperf_ad_fc_ae_f32"}  # an autoencoder's numbers
SATURATED = {"tinymaix_mnist_dw_int8"}  # its best two classes are both at 127


def file_of(name, **options):
    return convert(zoo.model_path(name), Options(shapes=zoo.shapes(name), **options)).data


@pytest.mark.parametrize("target", ["unix"], indirect=True)
@pytest.mark.parametrize("name", zoo.models())
def test_golden_vector_is_verified(target, name):
    data = file_of(name)
    script = "from mpconnxr import golden\nprint(golden.verify('m.bin'))\n"
    [line] = small.lines(target, script, m=data)
    assert line.startswith("ok: ")
    if name not in NOT_SCORES | SATURATED:
        assert_no_other_class_passes(data)


@pytest.mark.parametrize("target", ["unix"], indirect=True)
@pytest.mark.parametrize("name", ["digits_cnn_f32", "gesture_lstm_f32", "mnist_8"])
def test_fast16_is_verified(target, name):
    script = "from mpconnxr import golden\nprint(golden.verify('m.bin'))\n"
    [line] = small.lines(target, script, m=file_of(name, float="fast16"))
    assert line.startswith("ok: ")


def assert_no_other_class_passes(data):
    """Check that two errors within the bound cannot swap the best two scores of an only output."""
    stored = reader.read(data)
    if len(stored.outputs) != 1:
        return
    t = stored.tensors[stored.outputs[0]]
    [chunk] = [bytes(c.data) for c in stored.chunks if c.kind == layout.CHUNK_GOLDEN]
    bound = np.frombuffer(chunk, "<f4", 1, 4)[0]
    value = np.frombuffer(chunk[-(t.nbytes + -t.nbytes % 16) :], t.np_dtype, int(np.prod(t.shape)))
    if value.size < 2 or t.shape[-1] != value.size or value.dtype.kind not in "fiu":
        return
    scores = np.sort(value.astype(np.float64))
    assert 2 * bound < scores[-1] - scores[-2]
