# To freeze mpconnxr into a firmware, in the manifest of the board's definition:
#
#     include("/path/to/mpconnxr/manifest.py")
#     include("/path/to/mpconnxr/manifest.py", assembler=("thumb", "armv7m"))     # Cortex-M3
#
# Frozen code is compiled for the firmware's core and runs from flash: it takes little heap.
# Loops in assembler cannot be compiled for every core: name the forms that yours has (thumb on all
# of ARM's, armv7m from the Cortex-M3 on, armv7em from the Cortex-M4 on, vfp where it has an FPU,
# rv32 on RISC-V).
import os
import sys

metadata(version="0.1.0", description="ONNX models on stock MicroPython", license="MIT")

options.defaults(assembler=())

# A manifest is read in its own folder, that of the tools which build the package.
sys.path.insert(0, os.getcwd())
from tools import package as _package  # noqa: E402
from tools.deploy import core as _core  # noqa: E402

sys.path.pop(0)
_folder = str(_package.folder())


def _is_assembler(path):
    with open(path) as f:
        return "@micropython.asm_" in f.read()


# A form is a folder. What no board imports stays out.
_paths = [os.path.join(f, n) for f, _, names in os.walk(_folder) for n in names]
_host = [os.path.join(_folder, _core.path_of(name)) for name in _core.names(_core.Use.HOST)]
_paths = sorted(path for path in _paths if path.endswith(".py") and path not in _host)
_forms = {os.path.dirname(path) for path in _paths if _is_assembler(path)}
_chosen = {os.path.join(_folder, "loops", form) for form in options.assembler}
if _chosen - _forms:
    _unknown = sorted(os.path.basename(path) for path in _chosen - _forms)
    raise ValueError("no such form of loops: " + ", ".join(_unknown))
_paths = [path for path in _paths if os.path.dirname(path) not in _forms - _chosen]
package(
    "mpconnxr",
    files=[os.path.relpath(path, _folder) for path in _paths],
    base_path=os.path.dirname(_folder),
)
