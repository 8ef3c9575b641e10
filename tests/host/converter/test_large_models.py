"""Models of 100 MB convert in little of the host's memory."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.host.converter import large_models
from tools.converter.verify import ENVIRONMENT

ROOT = Path(__file__).parents[3]
LEAST, FACTOR = 150 << 20, 4  # bytes, and for each byte of the model's files
# Converts as the command does, but in this process, and prints the most that it and onnxruntime's
# process had.
SCRIPT = """
import sys
from pathlib import Path
from tools.converter.__main__ import main
from tools.converter.reference import ort_session

def most(pid):
    [line] = [s for s in Path(f"/proc/{pid}/status").read_text().splitlines() if "VmHWM" in s]
    return int(line.split()[1]) << 10

assert main(sys.argv[1:]) == 0
worker = ort_session._running
print(most("self"), most(worker._child.pid) if worker else 0)
"""
MODELS = {
    "gemm": (lambda: large_models.gemms(1448, 12), False),
    "conv": (lambda: large_models.convolutions(512, 11), False),
    "int8": (lambda: large_models.int8(2048, 24), False),
    "external": (lambda: large_models.gemms(1448, 12), True),
}
CASES = [(name, ()) for name in MODELS]
CASES += [("gemm", ("--window", "9M")), ("int8", ("--strip",))]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what a process had at most")
@pytest.mark.parametrize("name, options", CASES, ids=lambda v: v if isinstance(v, str) else v[:1])
def test_a_conversion_takes_little_memory(name, options, tmp_path):
    make, external = MODELS[name]
    path = tmp_path / "large.onnx"
    nbytes = large_models.saved(make(), path, external)
    assert nbytes > 96e6
    command = [sys.executable, "-c", SCRIPT, str(path), str(tmp_path / "large.bin"), *options]
    env = os.environ | {ENVIRONMENT: "0"}  # types are verified on a copy of the whole model
    completed = subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )
    assert completed.returncode == 0, completed.stderr
    results = list(map(int, completed.stdout.splitlines()[-1].split()))
    print(f"{name} {nbytes:,} bytes: {results[0]:,} here, {results[1]:,} in onnxruntime's process")
    assert max(results) <= LEAST + FACTOR * nbytes
