"""Count the instructions of one run of a model on a target: the command `mpconnxr bench`.

    python -m tools.bench model.onnx --target mps2-an385

Emulators count instructions, not cycles; `timing` estimates cycles. A clone also compiles the same
model to C and counts that (the package `benchmarks`, which a wheel does not have).
"""
