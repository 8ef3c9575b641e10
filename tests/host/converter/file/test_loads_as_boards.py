"""The check at conversion agrees with boards, for good files and for files with changed numbers.

Boards of 32-bit words count: extents from 2**29 on, parameters of 2**31, sizes that overflow.
"""

import numpy as np
import pytest

from tests.host.device import small
from tests.host.device.binfile import File
from tools.conformance.cases import all_cases
from tools.conformance.prepare import prepare
from tools.converter.file import on_host
from tools.micropython import UNIX_TARGETS

MODELS = [
    "add",
    "argmax_default_axis_example",
    "averagepool_2d_pads",
    "batchnorm_example",
    "concat_2d_axis_0",
    "conv_with_strides_padding",
    "convinteger_with_padding",
    "convtranspose",
    "cumsum_1d",
    "depthtospace_example",
    "dequantizelinear_axis",
    "einsum_batch_diagonal",
    "gather_1",
    "gathernd_example_int32",
    "gemm_all_attributes",
    "gridsample_bilinear",
    "group_normalization_example",
    "gru_defaults",
    "instancenorm_example",
    "layer_normalization_2d_axis0",
    "lrn",
    "lstm_defaults",
    "matmul_3d",
    "matmulinteger",
    "maxpool_2d_pads",
    "maxunpool_export_without_output_shape",
    "nonzero_example",
    "onehot_with_axis",
    "constant_pad",
    "prelu_broadcast",
    "qlinearconv",
    "qlinearmatmul_2D_uint8_float32",
    "quantizelinear_axis",
    "reduce_sum_keepdims_example",
    "resize_upsample_scales_linear",
    "reversesequence_batch",
    "roialign_aligned_true",
    "scatter_elements_with_axis",
    "slice",
    "softmax_axis_1",
    "split_equal_parts_2d_opset13",
    "tile",
    "top_k",
    "transpose_all_permutations_3",
    "tril_neg",
    "where_example",
    "rnn_seq_length",
    "range_int32_type_negative_delta",
]
BORDERS = [0, 1, 2, -1, 7, (1 << 16) + 1, (1 << 24) + 1, (1 << 29) - 1, 1 << 29, 1 << 30]
BORDERS += [(1 << 31) - 1, -(1 << 31), 1 << 28]
N_CHANGES = 14  # of a model


def models():
    expected = {f"test_{name}" for name in MODELS}
    cases = [case for case in all_cases() if case.name in expected]
    prepared = {case.name: prepare(case) for case in cases}
    assert expected == set(prepared)
    return [d.model for d in prepared.values() if d.model]


def changed(rng, data):
    """Return the file with one or two numbers of its tensors or graph replaced, signed."""
    file = File(data)
    first = file.tensors[0][0] if file.tensors else file.graph_at
    places = rng.choice(np.arange(first, len(file.words)), rng.integers(1, 3))
    values = [[*BORDERS, *(file.words[i] + d for d in (-1, 1, 4, 8, 16, 256))] for i in places]
    return file.changed(
        *((int(i), int(rng.choice(v))) for i, v in zip(places, values, strict=True))
    )


@pytest.fixture(scope="module")
def files():
    rng = np.random.default_rng(5)
    good = models()
    return good + [changed(rng, data) for data in good for _ in range(N_CHANGES)]


@pytest.fixture(scope="module")
def verdicts(files):
    return [verdict_here(data) for data in files]


def verdict_here(data):
    from mpconnxr.errors import MpconnxrError

    with on_host.package(None):
        try:
            on_host.load(data, [])
            return "taken"
        except MpconnxrError as e:
            return f"{type(e).__name__} {e}"
        except on_host.TooLarge:
            return "too large"


@pytest.mark.slow
@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
def test_the_converter_and_boards_give_the_same_verdict(target, files, verdicts):
    named = {f"{i}.bin": data for i, data in enumerate(files)}
    script = small.SCRIPTS / "load_verdicts.py"
    lines = small.run(target, script, named, args=(str(len(files)),)).splitlines()
    unlike = [
        (here, there)
        for here, there in zip(verdicts, lines, strict=True)
        if (here == "taken") != (there == "taken") and "float64" not in there
    ]
    assert not unlike
    n_good = len(files) // (N_CHANGES + 1)
    assert all(verdict == "taken" for verdict in verdicts[:n_good])
    assert n_good + 25 < sum(line == "taken" for line in lines) < len(lines) - 300
