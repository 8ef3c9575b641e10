"""Compute a model's outputs by onnxruntime, and golden vectors of inputs and outputs.

onnxruntime runs in another process (ort_session, ort_worker), without the errors that it has on
some processors (exact, same_pads). tolerance says how far a board may be from its outputs.
"""
