"""loops/program takes other arguments than the loops of kernels: see tests/host/program."""
