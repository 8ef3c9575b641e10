"""Run ONNX's backend tests, and random cases, on a MicroPython target: `mpconnxr conformance`."""
