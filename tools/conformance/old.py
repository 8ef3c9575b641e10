"""Read node cases of operator versions that a newer opset has replaced: the collection `old`.

ONNX's releases 1.3 to 1.18 shipped them; the installed onnx only has those of the newest versions.
They lie in an archive beside the repository, or where MPCONNXR_NODE_CASES points, as
`.../TAG/test_NAME/model.onnx` and `test_data_set_0/{input,output}_K.pb`.
"""

from __future__ import annotations

import fnmatch
import os
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
from onnx import numpy_helper

_ROOT = Path(__file__).resolve().parents[2]
_NAME = "node-cases.tar.xz"

# {patterns of names: why the expected outputs are wrong}. ONNX has since corrected these outputs,
# leaves them undefined, or contradicts them in its text; onnxruntime agrees with mpconnxr.
DISPUTED = {
    "v1.8.0/test_resize_downsample_scales_cubic_align_corners": (
        "the resized length was taken as scale * length; ONNX's text means the output's whole "
        "length, as onnxruntime and PyTorch do"
    ),
    "v1.12.0/test_bernoulli v1.12.0/test_bernoulli_seed": (
        "numpy's random draws, which ONNX does not define"
    ),
    """v1.16.0/test_averagepool_3d_dilations_large_count_include_pad_is_1_ceil_mode_is_True""": (
        "the last windows were divided by all of their taps; ONNX 1.18 counts those that lie in "
        "the input or its padding"
    ),
    "v1.18.0/test_attention_3d*": (
        "Q, K and V were cut into heads without the Transpose; ONNX 1.19 has it (onnx#7142)"
    ),
    "v1.18.0/test_attention_4d_gqa*": (
        "the heads of K and V were tiled; ONNX 1.20 repeats each in its place (onnx#7274)"
    ),
    "v1.18.0/test_attention_4d_with_qk_matmul_bias v1.18.0/*_4d_with_qk_matmul_softcap": (
        "scores were capped behind the mask; ONNX 1.22 caps before it, and renumbers the modes of "
        "qk_matmul_output_mode (onnx#7867, onnx#7913)"
    ),
    "v1.1[68].0/test_cast_FLOAT*_to_*INT4": (
        "what 4 bits do not hold was clipped; ONNX leaves it undefined, and its reference keeps "
        "the low bits since 1.19, as onnxruntime does"
    ),
    "v1.18.0/test_cast_FLOAT_to_FLOAT4E2M1": (
        "NaN, which the dtype lacks, became 6; since ONNX 1.19 it is 0"
    ),
}


def archive() -> Path:
    """Return the path of the archive, whether it exists or not."""
    default = _ROOT.parent / "shared" / "onnx-node-cases"
    path = Path(os.environ.get("MPCONNXR_NODE_CASES", default))
    return path / _NAME if path.is_dir() else path


def disputed(name: str) -> str:
    """Return why the expected outputs of a case are wrong; "" if they are right."""
    for patterns, why in DISPUTED.items():
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns.split()):
            return why
    return ""


def cases() -> Iterator[tuple[str, onnx.ModelProto, list, list]]:
    """Yield ("TAG/test_NAME", model, inputs, outputs) of each case; nothing without an archive."""
    if not archive().is_file():
        return
    for name, files in sorted(_files(archive()).items()):
        model = onnx.load_model_from_string(files["model.onnx"])
        sides = (("input", model.graph.input), ("output", model.graph.output))
        yield (name, model, *(_values(files, kind, infos) for kind, infos in sides))


def _files(path):
    """Return {"TAG/test_NAME": {file name: contents}}."""
    cases_files: dict[str, dict[str, bytes]] = {}
    with tarfile.open(path) as tar:
        for member in tar:
            match = re.search(r"([^/]+/test_[^/]+)/(?:test_data_set_0/)?([^/]+)$", member.name)
            if match and member.isfile():
                cases_files.setdefault(match[1], {})[match[2]] = tar.extractfile(member).read()
    return cases_files


def _values(files, kind, infos):
    return [_value(files[f"{kind}_{i}.pb"], info.type) for i, info in enumerate(infos)]


def _value(raw, value_type):
    if value_type.HasField("sequence_type"):
        return numpy_helper.to_list(onnx.SequenceProto.FromString(raw))
    if value_type.HasField("optional_type"):
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(raw))
    value = numpy_helper.to_array(onnx.TensorProto.FromString(raw))
    is_bfloat16 = value_type.tensor_type.elem_type == onnx.TensorProto.BFLOAT16
    if is_bfloat16 and value.dtype == np.uint16:  # old archives store bfloat16 as uint16
        value = value.view(ml_dtypes.bfloat16)
    return value
