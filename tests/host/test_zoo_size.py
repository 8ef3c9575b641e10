"""What files of real float32 models take, next to their .onnx."""

import re

import pytest

from tests.host import zoo
from tools.converter.convert import Options, convert

# Weights that are integers, float16, or in a file beside the .onnx.
OTHERS = re.compile("_qdq_|_qop_|_dynq$|_int8$|_qtdnn$|_f16$|_w8$|_external_data$")
MODELS = [name for name in zoo.models() if not OTHERS.search(name)]
TAILS = 1.04  # docs/weights.md: 12 bytes a row of weights that are exact

pytestmark = zoo.needs_zoo


def stripped_nbytes(name, floats):
    shapes = [x.shape for x in zoo.sample(name, 0, "input")]
    shapes = dict(zip(zoo.input_names(name), shapes, strict=True))
    options = Options(shapes=shapes, strip=True, float=floats)
    return len(convert(zoo.model_path(name), options).data)


@pytest.mark.parametrize("name", MODELS)
def test_a_stripped_file_is_no_larger_than_its_onnx(name):
    nbytes = zoo.model_path(name).stat().st_size
    assert stripped_nbytes(name, "python") <= nbytes
    assert stripped_nbytes(name, "exact") <= TAILS * nbytes
