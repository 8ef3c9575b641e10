"""docs/custom-operators.md works: functions are inlined, --ops adds kernels."""

from pathlib import Path

import numpy as np
import onnx
import pytest

from examples.custom_op.demo import OPS
from examples.custom_op.network import ACME, N_TAPS, network, noisy_signal
from tests.host.device import small
from tools import package
from tools.converter import __main__ as converter
from tools.converter import own
from tools.converter.convert import Options, convert
from tools.converter.errors import UnsupportedModel, UsageError
from tools.converter.ir import walk
from tools.converter.reference import golden
from tools.deploy.code import code_for
from tools.deploy.errors import DeployError
from tools.deploy.model_file import read_model
from tools.deploy.modules import Package
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS
from tools.run import __main__ as run

PACKAGE = package.folder()

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
ALLOWED = Options(ops=OPS, allow_domains=[ACME])
SHRINK = ["unary", "binary", "unary", "binary", "binary", "move", "select"]
TAKEN_APART = ["block_conv", *SHRINK]


def kernels_of(converted):
    return [step.kernel for step in walk(converted.graph.steps)]


def clean(signal):
    """Return the signal, smoothed, then shrunk towards 0, by numpy."""
    taps = np.hanning(N_TAPS + 2)[1:-1]
    smooth = np.convolve(signal[0].astype(np.float64), taps / taps.sum(), "valid")[None]
    return np.sign(smooth) * np.maximum(np.abs(smooth) - 0.15, 0)


def check(target, converted):
    job = Job(converted.data, [[noisy_signal().tobytes()]])
    [outcome] = run_jobs(target, [job], kernels=own.kernels_in(OPS))
    assert not outcome.error, outcome.message
    got = np.frombuffer(outcome.runs[0].outputs[0], np.float32).reshape(1, -1)
    np.testing.assert_allclose(got, clean(noisy_signal()), rtol=1e-5, atol=1e-6)


@every_target
def test_functions_are_inlined(target):
    converted = convert(network())
    assert kernels_of(converted) == TAKEN_APART
    check(target, converted)


@every_target
def test_kernels_win_over_functions(target):
    converted = convert(network(), ALLOWED)
    assert kernels_of(converted) == ["fir", "soft_threshold"]
    assert not converted.notes  # onnxruntime runs the functions, so there is a golden vector
    check(target, converted)


@every_target
def test_kernels_without_functions_get_sizes_from_the_lowerings(target):
    """Sizes come from the lowerings' own rules."""
    proto = network(functions=False)
    del proto.graph.output[0].type.tensor_type.shape.dim[:]
    for name in ("batch", "n"):
        proto.graph.output[0].type.tensor_type.shape.dim.add().dim_param = name
    converted = convert(proto, ALLOWED)
    assert kernels_of(converted) == ["fir", "soft_threshold"]
    check(target, converted)


def reasons(options):
    with pytest.raises(UnsupportedModel) as caught:
        convert(network(functions=False), options)
    return str(caught.value)


def test_a_domain_that_is_not_allowed_is_refused_with_a_hint():
    text = reasons(Options(ops=OPS))
    assert "com.acme::Fir (opset 1): this operator has no kernel" in text
    assert "--ops has a kernel for it: --allow-domain com.acme uses it" in text
    assert "2 reason(s)" in text
    assert "has a kernel" in reasons(Options(ops=OPS, allow_domains=["com.other"]))


def test_a_domain_that_is_not_allowed_is_noted_if_functions_replace_it():
    converted = convert(network(), Options(ops=OPS))
    assert kernels_of(converted) == TAKEN_APART
    [note] = converted.notes
    assert note.startswith("--ops has kernels for Fir, SoftThreshold of com.acme")
    assert note.endswith("--allow-domain com.acme uses them")


def test_the_report_suggests_ops():
    for options in (Options(), Options(allow_domains=[ACME])):
        assert "--ops FOLDER --allow-domain com.acme" in reasons(options)


def test_custom_operators_end_with_the_conversion():
    convert(network(functions=False), ALLOWED)
    assert "has no kernel" in reasons(Options())


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "device").mkdir()
    return tmp_path


def declare(folder, text):
    (folder / "mine.py").write_text("from tools.converter.ops import lowers\n" + text)


def test_operators_of_mpconnxr_cannot_be_replaced(folder):
    declare(folder, "@lowers('Relu', domain='ai.onnx')\ndef f(node): pass\n")
    with pytest.raises(UsageError, match="two lowerings for ai.onnx::Relu"):
        convert(network(), Options(ops=folder, allow_domains=["ai.onnx"]))


def test_kernels_of_mpconnxr_cannot_be_replaced(folder):
    (folder / "device" / "relu.py").write_text("")
    with pytest.raises(UsageError, match="has the name of a kernel of mpconnxr"):
        convert(network(), Options(ops=folder))
    with pytest.raises(DeployError, match="has the name of a kernel of mpconnxr"):
        Package(own=folder / "device")


def test_invalid_folders_are_refused(folder):
    with pytest.raises(UsageError, match="not a folder"):
        convert(network(), Options(ops=Path("/absent")))
    declare(folder, "1 / 0\n")
    with pytest.raises(UsageError, match="ZeroDivisionError"):
        convert(network(), Options(ops=folder))


def test_files_of_a_folder_may_import_each_other(folder):
    (folder / "_shared.py").write_text("KERNEL = 'relu'\n")
    declare(
        folder,
        """from ._shared import KERNEL
@lowers("Same", domain="com.acme", infer=lambda node: [(1, node.inputs[0].shape)])
def lower(node):
    node.emit(KERNEL, node.inputs, node.outputs, [])
""",
    )
    proto = small.relu()
    proto.graph.node[0].op_type, proto.graph.node[0].domain = "Same", "com.acme"
    proto.opset_import.append(onnx.helper.make_opsetid("com.acme", 1))
    converted = convert(proto, Options(ops=folder, allow_domains=["com.acme"]))
    assert kernels_of(converted) == ["relu"]


@pytest.mark.parametrize(
    ("block", "given"),
    [("# params\n_A = const(0)\n_B = const(1)  # [2]\n", "b=[2, 3], a=1"), ("", "[1, 2, 3]")],
)
def test_a_custom_kernel_may_declare_its_parameters(folder, block, given):
    kernel = f"{block}\n\ndef prepare(node):\n    return 0, None\n"
    (folder / "device" / "doubled.py").write_text(kernel)
    declare(
        folder,
        f"""@lowers("Same", domain="com.acme", infer=lambda node: [(1, node.inputs[0].shape)])
def lower(node):
    node.emit("doubled", node.inputs, node.outputs, {given})
""",
    )
    proto = small.relu()
    proto.graph.node[0].op_type, proto.graph.node[0].domain = "Same", "com.acme"
    proto.opset_import.append(onnx.helper.make_opsetid("com.acme", 1))
    converted = convert(proto, Options(ops=folder, allow_domains=["com.acme"]))
    assert [step.params for step in converted.graph.steps] == [[1, 2, 3]]


@every_target
def test_a_kernel_missing_on_the_board_is_named(target):
    data = convert(network(), ALLOWED).data
    script = """
import mpconnxr
try:
    mpconnxr.load("m.bin")
except mpconnxr.UnsupportedError as e:
    print(e)
"""
    printed = small.lines(target, script, m=data)
    assert printed[0].startswith("no kernel fir in this installation of mpconnxr: ")


@every_target
def test_parameters_that_a_kernel_forbids_are_refused(target):
    """The taps exceed the engine: the lowering refuses them, but a file may contain them."""
    data = convert(network(), ALLOWED).data
    script = """
import mpconnxr
from mpconnxr.ops import fir
fir.MAX_TAPS = 8
try:
    mpconnxr.load("m.bin")
except mpconnxr.ModelError as e:
    print(e)
"""
    files = {f"mpconnxr/{p.relative_to(PACKAGE)}": p for p in PACKAGE.rglob("*.py")}
    files |= {f"mpconnxr/ops/{name}": path for name, path in own.kernels_in(OPS).items()}
    completed = target.run(script, files=files | {"m.bin": data})
    assert (completed.stdout, completed.stderr) == ("step 0 fir: number of taps\n", "")


@pytest.fixture
def on_disk(tmp_path):
    """Return denoise.onnx, denoise.bin and signal.npy, as the command line makes them."""
    model, binary, signal = (tmp_path / n for n in ("denoise.onnx", "denoise.bin", "signal.npy"))
    onnx.save(network(), model)
    np.save(signal, noisy_signal())
    options = ["--ops", str(OPS), "--allow-domain", ACME]
    assert converter.main([str(model), str(binary), *options]) == 0
    return model, binary, signal


@pytest.mark.usefixtures("target")
def test_run_accepts_the_folder(on_disk, capsys):
    model, binary, signal = map(str, on_disk)
    options = ["--ops", str(OPS), "--compare", model]
    assert run.main([binary, signal, *options]) == 0
    assert run.main([model, signal, *options, "--", "--allow-domain", ACME]) == 0
    assert capsys.readouterr().out.count("argmax agrees in 100.00%") == 2
    assert run.main([binary, signal]) == 1
    assert "no kernel fir" in capsys.readouterr().err


def test_flash_copies_used_kernels(on_disk):
    _, binary, _ = on_disk
    model = read_model(binary)
    paths = {f.path for f in code_for(model, Package(own=OPS / "device"), None)}
    assert {f"mpconnxr/ops/{n}.py" for n in ("fir", "fir_engine", "soft_threshold")} < paths
    assert "mpconnxr/ops/conv.py" not in paths
    with pytest.raises(DeployError, match="no kernel fir"):
        code_for(model, Package(), None)


def test_the_golden_vector_comes_from_the_functions():
    got = golden.reference(network(), [noisy_signal()])
    np.testing.assert_allclose(got[0], clean(noisy_signal()), rtol=1e-5, atol=1e-6)
