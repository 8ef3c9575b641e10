"""Instructions of a whole run of a model, counted, next to C compiled for the same core.

    python -m tools.bench model.onnx --target mps2-an385

Emulators count instructions, not cycles. Those are estimated (see timing): a claim made of either
says so.
"""
