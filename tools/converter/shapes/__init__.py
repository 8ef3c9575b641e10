"""Infer shape and dtype of every value, also of values whose shapes only a run decides.

`infer` and types work on ONNX models, extent on the integers themselves, runtime on lowered
graphs.
"""
