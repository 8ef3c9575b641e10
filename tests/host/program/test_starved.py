"""A lack of memory in a public call raises a typed error, and everything works after it.

See tests/device/starved.py. Some allocations of each call; all of them with MPCONNXR_LONG=1.
"""

import numpy as np
import pytest

from tests.host.device import small
from tests.host.program import programs
from tests.host.program.test_lifetimes import network
from tests.host.program.test_models import LONG
from tools.converter.convert import Options, convert
from tools.micropython import GUARD_TARGETS

SCRIPT = (small.SCRIPTS / "starved.py").read_text()
HEAP = 8 << 20
X = np.ascontiguousarray(small.floats(1, 2, 6, 6))
MOST = {"warm": 10**9, "cold": 400} if LONG else {"warm": 5, "cold": 2}  # of a call's allocations


@pytest.mark.slow
@pytest.mark.parametrize("target", GUARD_TARGETS[:2], indirect=True)
@pytest.mark.parametrize("kind", ["program", "kernels"])
@pytest.mark.parametrize("mode", MOST)
def test_a_call_without_memory_raises_a_typed_error(target, kind, mode):
    data = convert(network(), Options(golden=[X])).data
    bundles = [programs.made(data, target, stream=True)] if kind == "program" else []
    files = {"mpconnxr": programs.package(bundles), "model.bin": data, "x": X.tobytes()}
    args = [kind, mode, str(MOST[mode])]
    completed = target.run(SCRIPT, files=files, args=args, timeout=1500, heap=HEAP)
    *bad, last = completed.stdout.splitlines() + [completed.stderr]
    assert not bad[:-1] and bad[-1].startswith("tried"), "\n".join(bad[:12]) + last[-500:]
    assert int(bad[-1].split()[1]) > 30
    print(kind, mode, bad[-1])
