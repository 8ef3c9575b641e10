"""loops/table takes other arguments than kernels' loops: see tests/host/program/test_calls."""
