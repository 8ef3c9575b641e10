"""Run ONNX's backend tests, and random cases, on a MicroPython target: `mpconnxr conformance`."""

ONNX = ("node", "pytorch-converted", "pytorch-operator", "simple", "light")
MS = "ms"  # onnxruntime's own operators
OLD = "old"  # node cases of replaced operator versions
VERSIONS = "versions"  # random models at each version of an operator
COLLECTIONS = (*ONNX, OLD, VERSIONS, MS)
