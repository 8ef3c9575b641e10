"""ONNX's own backend tests, converted and run on a MicroPython target."""
