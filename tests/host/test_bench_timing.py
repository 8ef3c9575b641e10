"""Estimated cycles: hand-computed sequences of the cores' manuals, and runs in QEMU."""

import subprocess

import numpy as np
import onnx
import pytest

from benchmarks import page
from benchmarks.c import build as c_build
from benchmarks.c import cmsis as c_cmsis
from benchmarks.c import code as c_code
from benchmarks.published import PUBLISHED, compared
from tests.host.device import small
from tools.bench import measure
from tools.bench.timing.blocks import Block
from tools.bench.timing.cores import CORES, estimate
from tools.bench.timing.thumb import decoded
from tools.converter.convert import Options, convert
from tools.converter.load import prepare
from tools.converter.quantize.post_training import quantize
from tools.converter.quantize.settings import Settings
from tools.converter.simplify import simplify

M0PLUS, M3, M4 = (CORES[name] for name in ("mps2-an385-v6m", "mps2-an385", "mps2-an386"))


@pytest.fixture
def code_of(tmp_path, ready_target):
    """Return a function that assembles a sequence of instructions."""
    ready_target("mps2-an386")

    def assembled(text):
        (tmp_path / "a.s").write_text(f".syntax unified\n.thumb\n{text}\n")
        elf, raw = str(tmp_path / "a.o"), tmp_path / "a.bin"
        options = ["-mthumb", "-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"]
        subprocess.run(["arm-none-eabi-gcc", *options, "-c", "-o", elf, "a.s"], cwd=tmp_path)
        subprocess.run(["arm-none-eabi-objcopy", "-O", "binary", elf, str(raw)], check=True)
        return raw.read_bytes()

    return assembled


# Sequences, with the cycles that the manuals' rules give: (Cortex-M0+, M3, M4), the branch at the
# end not taken. Only what a core has; 3.3.3 of the Cortex-M3's and M4's manuals.
SEQUENCES = [
    ("adds r0, r1, r2; muls r0, r1, r0; lsls r0, r0, #3", (3, 3, 3)),
    ("ldr r0, [r1]; ldr r2, [r3]", (4, 3, 3)),  # pipelined
    ("ldr r0, [r1]; ldr r2, [r0]", (4, 4, 4)),  # its address is what was loaded
    ("ldr r0, [r1]; str r2, [r3]; adds r4, #1", (5, 4, 4)),
    ("str r2, [r3, r4]; ldr r0, [r1]", (4, 4, 4)),
    ("ldr r0, [r1]; str r2, [r3, r4]", (4, 3, 3)),
    ("adds r1, #4; ldr r0, [r1]", (3, 4, 4)),  # no forwarding to an address
    ("ldm r1!, {r2, r3, r4}", (4, 4, 4)),
    ("push {r4, r5, lr}; pop {r4, r5, pc}", (4 + 6, 4 + 4, 4 + 4)),
    ("subs r0, #1; bne .-2", (2, 2, 2)),
    ("bl .+100", (3, 1, 1)),
    ("mla r0, r1, r2, r3; mls r0, r1, r2, r3", (None, 4, 2)),
    ("umull r0, r1, r2, r3; smlal r0, r1, r2, r3", (None, 9, 2)),
    ("smlad r0, r1, r2, r0; smlad r0, r1, r2, r0", (None, None, 2)),
    ("vmul.f32 s0, s1, s2; vadd.f32 s3, s4, s5", (None, None, 2)),
    ("vmul.f32 s0, s1, s2; vadd.f32 s3, s3, s0", (None, None, 3)),  # waits for the product
    ("vfma.f32 s0, s1, s2", (None, None, 3)),
    ("vldr s0, [r0]; vldr s1, [r0, #4]", (None, None, 3)),
    ("vldmia r0!, {s0-s3}", (None, None, 5)),
]


@pytest.mark.parametrize(("text", "cycles"), SEQUENCES, ids=[t for t, _ in SEQUENCES])
def test_cycles_agree_with_hand_computation(text, cycles, code_of):
    code = code_of(text)
    for core, expected in zip((M0PLUS, M3, M4), cycles, strict=True):
        if expected is not None:
            result = estimate([Block(0x100, code, 10, 0)], core)
            assert result.cycles == 10 * expected, core.name
            assert result.instructions == 10 * (text.count(";") + 1)


def test_branches_are_decoded_as_assembled(code_of):
    branches = {"b .+20": 20, "bne .-8": -8, "bl .-300": -300, "beq.w .+70000": 70000}
    for text, to in branches.items():
        assert [op.to for op in decoded(code_of(text))] == [to]


def test_a_taken_branch_fills_the_pipeline_again(code_of):
    """It costs another fetch if the code lies behind the system bus."""
    block = Block(0x20000100, code_of("nop; subs r0, #1; bne .-4"), 100, 99)
    assert estimate([block], M0PLUS).cycles == 3 * 100 + 99
    assert estimate([block], M4).cycles == 3 * 100 + 99
    result = estimate([block], M4, lambda address: address >= 0x20000000)
    assert (result.cycles, result.fetched) == (3 * 100 + 2 * 99, 99)


def test_fetches_and_loads_conflict_on_the_system_bus(code_of):
    block = Block(0x20000100, code_of("; ".join(["ldr.w r2, [r1, #400]"] * 4)), 1, 0)
    result = estimate([block], M4, lambda address: True)
    assert (result.cycles, result.fetched) == (8, 3)


def test_published_figures_are_compared_by_mac():
    figure = PUBLISHED[0]
    assert figure.cycles(0) == pytest.approx(14.38, abs=0.01)
    row = {"target": figure.target, "model": f"zoo/{figure.model}/model.onnx", "macs": 1000}
    assert list(compared([row])) == []
    [(_, measured, estimated)] = compared([row | {"cmsis_o3_cycles": 16_000}])
    assert (measured, estimated) == (figure.cycles(1000), 16.0)


def test_the_page_has_cycles_where_they_are_known(tmp_path):
    row = {
        "model": "zoo/mlperf_kws_dscnn_int8/model.onnx",
        "target": "mps2-an505",
        "macs": 2_656_768,
        "instructions": 6_000_000,
        "c_o2_instructions": 24_000_000,
        "c_o3_instructions": 20_000_000,
        "c_same_o3_instructions": 9_000_000,
        "in_loops_instructions": None,
        "arena_bytes": 2048,
        "heap_growth_bytes": 0,
    }
    page.write([row], tmp_path, "make it")
    text = (tmp_path / "benchmarks.md").read_text()
    assert "CMSIS-NN is not compared" in text and "## At a glance" not in text
    assert "cycles a MAC" not in text
    row |= {"cycles": 8_000_000, "c_o2_cycles": 34_000_000, "c_o3_cycles": 32_000_000}
    row |= {"cmsis_o2_instructions": 8_000_000, "cmsis_o3_instructions": 7_500_000}
    row |= {"cmsis_o2_cycles": 10_000_000, "cmsis_o3_cycles": 9_348_000, "cmsis_steps_off": 1.0}
    riscv = {k: v for k, v in row.items() if "cycles" not in k} | {"target": "virt-rv32"}
    page.write([row, riscv], tmp_path, "make it")
    text = (tmp_path / "benchmarks.md").read_text()
    assert "| Cortex-M33 | 0.30 to 0.30 | 0.25 to 0.25 | 0.80 to 0.80 | 0.86 to 0.86 |" in text
    assert " run it | 0.30 to 0.30 | – | 0.80 to 0.80 | – |" in text  # no cycles of RISC-V
    assert "| mlperf_kws_dscnn_int8 | 3.01 | 12.04 | 3.76 | 3.52 | 3.01 | 2.82 | 1 |" in text
    assert "| mlperf_kws_dscnn_int8 | 3.01 | 2.82 | 1 |" in text
    assert "| mlperf_kws_dscnn_int8 | 3.67 | 3.52 | -4% |" in text


def _quantized():
    """Return layers of each kind that CMSIS-NN has, in int8."""
    rng = np.random.default_rng(3)
    constants = {
        "w": rng.normal(size=(8, 3, 3, 3)) / 5,
        "b": rng.normal(size=8),
        "v": rng.normal(size=(8, 1, 3, 3)) / 2,
        "p": rng.normal(size=(8, 8, 1, 1)) / 3,
        "g": rng.normal(size=(5, 128)) / 9,
        "h": rng.normal(size=5),
    }
    nodes = [
        ("Conv", "x w b", "c", {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
        ("Relu", "c", "r", {}),
        ("Conv", "r v", "d", {"group": 8, "pads": [1, 1, 1, 1]}),
        ("Conv", "d p", "e", {}),
        ("Add", "e r", "s", {}),
        ("MaxPool", "s", "m", {"kernel_shape": [2, 2], "strides": [2, 2]}),
        ("Flatten", "m", "f", {}),
        ("Gemm", "f g h", "y", {"transB": 1}),
    ]
    arrays = {name: value.astype(np.float32) for name, value in constants.items()}
    inputs, outputs = [small.value("x", (1, 3, 16, 16))], [small.value("y", (1, 5))]
    model = small.model(nodes, inputs, outputs, **arrays)
    samples = [{"x": x[None].astype(np.float32)} for x in rng.normal(size=(16, 3, 16, 16))]
    return quantize(simplify(prepare(model)), Settings(samples=samples))[0]


@pytest.mark.slow
@pytest.mark.parametrize("target", ["mps2-an385-v6m", "mps2-an386"])
def test_cycles_are_estimated_for_our_run_and_for_c(target, ready_target, tmp_path):
    """The plugin sees the instructions that the counter counts."""
    ready_target(target)
    onnx.save(_quantized(), tmp_path / "m.onnx")
    converted = convert(tmp_path / "m.onnx", Options(strip=True))
    result = measure.cycles(converted, target).estimate
    counted = measure.count(converted, target).instructions
    assert result.instructions == pytest.approx(counted, rel=0.01)
    assert 1.1 < result.cycles / result.instructions < 2.2
    assert (result.fetched > 0) == (target == "mps2-an386")
    counted_c = c_build.count(c_code.generate(tmp_path / "m.onnx").text, target, "-O3")
    assert 1.1 < counted_c.cycles / counted_c.instructions < 2.2


@pytest.mark.slow
@pytest.mark.skipif(c_cmsis.folder() is None, reason="no sources of CMSIS-NN")
@pytest.mark.parametrize("target", ["mps2-an385-v6m", "mps2-an386", "virt-rv32"])
def test_cmsis_nn_computes_the_same(target, ready_target, tmp_path):
    ready_target(target)
    ready_target("mps2-an386")
    onnx.save(_quantized(), tmp_path / "m.onnx")
    source = c_cmsis.generate(tmp_path / "m.onnx")
    library = c_cmsis.library(target, c_build.compiler_of(target), "-O3")
    counted = c_build.count(source.text, target, "-O3", library)
    converted = convert(tmp_path / "m.onnx", Options(strip=True))
    ours = measure.cycles(converted, "mps2-an386", sample=source.sample).output
    assert source.steps_off(counted.output, ours) <= 1
    assert len(set(np.frombuffer(ours, np.float32))) > 3
    assert counted.instructions > 10_000
