"""Describe this computer's processor, as far as onnxruntime's kernels depend on it."""

from __future__ import annotations

import platform
import re
import subprocess
from pathlib import Path

_FEATURES = {"avx2": "AVX2", "avx512bw": "AVX-512", "asimddp": "dot products", "i8mm": "I8MM"}
_X86 = ("x86_64", "AMD64", "i686")


def description() -> str:
    """Return the processor's model and features, such as 'AMD EPYC (AVX2, AVX-512, VNNI)'."""
    model, flags = _linux() or _macos() or (platform.processor() or platform.machine(), None)
    if flags is None:
        return f"{model} ({platform.machine()})"
    features = [name for flag, name in _FEATURES.items() if flag in flags]
    if platform.machine() in _X86:
        features.append("VNNI" if any("vnni" in flag for flag in flags) else "no VNNI")
    return f"{model} ({', '.join(features) or platform.machine()})"


def _linux():
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return None
    entries = dict(re.findall(r"^([^:\n]*\S)\s*: (.*)$", text, re.MULTILINE))
    flags = entries.get("flags") or entries.get("Features")
    model = entries.get("model name") or entries.get("CPU part", platform.machine())
    return model, flags and flags.lower().split()


def _macos():
    if platform.system() != "Darwin":
        return None
    names = ("machdep.cpu.brand_string", "machdep.cpu.leaf7_features")
    model, leaf7 = (_sysctl(name) for name in names)
    return model or platform.machine(), leaf7.lower().split() if leaf7 else None


def _sysctl(name):
    try:
        result = subprocess.run(["sysctl", "-n", name], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return result.stdout.strip()
