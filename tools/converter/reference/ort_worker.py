"""Run onnxruntime in a process of its own, so that a crash there does not end the conversion.

    python -m tools.converter.reference.ort_worker

reads requests from stdin and writes answers to stdout, each a length and a pickle. Only
`ort_session` starts it, so both sides are trusted: no part of a model is unpickled.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
from typing import BinaryIO

from tools.limits import end_with_parent

LENGTH = struct.Struct("<Q")
MODES = ("exact", "falsified")  # of MPCONNXR_ORT; falsified: integer products are wrong, for tests


def send(file: BinaryIO, value: object) -> None:
    """Write a value.

    Raises:
        OSError: if the other side has closed the pipe.
    """
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    file.write(LENGTH.pack(len(data)))
    file.write(data)
    file.flush()


def main() -> int:
    """Answer requests until the pipe closes, then return exit status 0."""
    end_with_parent()
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # text that a library prints must not mix with answers
    sessions: dict[int, object] = {}
    constants: dict[int, dict] = {}  # of models that are not open yet
    while head := requests.read(LENGTH.size):
        verb, number, value = pickle.loads(requests.read(*LENGTH.unpack(head)))
        try:
            send(answers, (True, _answer(sessions, constants, verb, number, value)))
        except Exception as e:  # onnxruntime has exceptions of its own
            send(answers, (False, (type(e).__name__, str(e))))
    return 0


def _answer(sessions, constants, verb, number, value):
    if verb == "take":
        name, array = value
        constants.setdefault(number, {})[name] = array
        return None
    if verb == "close":
        sessions.pop(number, None)
        return None
    if verb == "open":
        sessions[number] = session = _session(value, constants.pop(number, {}))
        return [[i.name for i in session.get_inputs()], [o.name for o in session.get_outputs()]]
    return _run(sessions[number], *value)


def _run(session, names, feed):
    """Run a session; float8, which onnxruntime returns as uint8, gets its dtype."""
    outputs = session.get_outputs()  # may have one name twice
    types = {o.name: o.type for o in outputs}
    values = session.run(names, feed)
    names = [o.name for o in outputs] if names is None else names
    if not any("float8" in types[name] for name in names):
        return values
    import ml_dtypes

    float8 = {
        "tensor(float8e4m3fn)": ml_dtypes.float8_e4m3fn,
        "tensor(float8e4m3fnuz)": ml_dtypes.float8_e4m3fnuz,
        "tensor(float8e5m2)": ml_dtypes.float8_e5m2,
        "tensor(float8e5m2fnuz)": ml_dtypes.float8_e5m2fnuz,
    }
    dtypes = [float8.get(types[name]) for name in names]
    return [y.view(d) if d else y for y, d in zip(values, dtypes, strict=True)]


def _session(serialized, constants):
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.enable_cpu_mem_arena = False  # it keeps memory after a run
    options.intra_op_num_threads = 1  # the order of sums must not depend on the number of cores
    if os.environ.get("MPCONNXR_ORT") == "falsified":
        serialized = _falsified(serialized)
    if constants:
        values = map(ort.OrtValue.ortvalue_from_numpy, constants.values())
        options.add_external_initializers(list(constants), list(values))
    return ort.InferenceSession(serialized, options, ["CPUExecutionProvider"])


def _falsified(serialized):
    """Return a model with the wrong products of a CPU without VNNI (see exact/falsified.py)."""
    import onnx

    from . import exact
    from .exact.falsified import Falsified

    return exact.replaced(onnx.load_from_string(serialized), Falsified()).SerializeToString()


if __name__ == "__main__":
    sys.exit(main())
