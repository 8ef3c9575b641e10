"""--bound refuses the node cases of the list in docs/convert.md, if one of their dims is opened.

MPCONNXR_LONG=1: all cases, else one of each operator.
"""

import os
import re
from collections import Counter

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from tests.host.converter.opened import DIM, groups, opened
from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.converter.errors import ConvertError, UnsupportedModel
from tools.converter.reference import golden

LONG = os.environ.get("MPCONNXR_LONG") == "1"
N = 1 << 20 if LONG else 1  # cases of each operator
PAGE = (small.ROOT / "docs/convert.md").read_text()
LISTED = re.search(r"follow every open dimension:\n\n(.*?)\n\n", PAGE, re.S)


def listed():
    """Return the names of operators in the page's table."""
    rows = LISTED.group(1).splitlines()[2:]
    return {name for row in rows for name in re.findall(r"[A-Z]\w+", row.split("|")[1])}


def cases():
    """Yield (operator, model, values): single nodes of tensors, small integers as constants."""
    from onnx.backend.test.case.node import collect_testcases

    seen = Counter()
    for case in collect_testcases(None):
        result = _free(case)
        if result is None or seen[result[0].op_type] >= N:
            continue
        seen[result[0].op_type] += 1
        yield result


def _free(case):
    model = case.model
    if model is None or len(model.graph.node) != 1 or not case.data_sets:
        return None
    [node] = model.graph.node
    infos = [*model.graph.input, *model.graph.output]
    if any(not info.type.HasField("tensor_type") for info in infos):
        return None
    values = [np.asarray(x) for x in case.data_sets[0][0]]
    if any(a.HasField("g") for a in node.attribute) or any(x.dtype.kind in "OUS" for x in values):
        return None
    copy, kept = onnx.ModelProto(), []
    copy.CopyFrom(model)
    del copy.graph.input[:], copy.graph.value_info[:]
    for i, (info, x) in enumerate(zip(model.graph.input, values, strict=True)):
        is_shape = x.dtype in (np.int32, np.int64) and x.ndim <= 1
        if i and (is_shape or x.ndim == 0) or x.size == 0:
            copy.graph.initializer.append(numpy_helper.from_array(x, info.name))
        else:
            copy.graph.input.append(info)
            kept.append(x)
    return (node, copy, kept) if kept else None


def is_any_size_right(model, values, places):
    """Return True if onnxruntime runs the model in two sizes."""
    most = values[places[0][0]].shape[places[0][1]]
    for n in (most, most - 1):
        xs = list(values)
        for i, axis in places:
            xs[i] = np.ascontiguousarray(xs[i].take(range(n), axis))
        if golden.reference(model, xs) is None:
            return False
    return True


def refusals():
    """Yield (operator, what is refused, reason) for models that convert with fixed sizes."""
    for node, model, values in cases():
        try:
            convert(model, Options(strip=True, check=False))
        except ConvertError:
            continue
        for places in groups(model):
            one = opened(model, places)
            most = values[places[0][0]].shape[places[0][1]]
            try:
                convert(one, Options(bounds={DIM: most}, strip=True, check=False))
            except UnsupportedModel as e:
                if is_any_size_right(one, values, places):
                    yield node.op_type, f"{model.graph.name} {places}", str(e)


@pytest.mark.slow
def test_the_page_lists_all_refused_operators():
    results = {}
    for operator, what, why in refusals():
        results.setdefault(operator, f"{what}: {why}")
        assert "--dim instead of --bound" in why, what
    missing = {name: text for name, text in results.items() if name not in listed()}
    assert not missing, "\n".join(missing.values())
