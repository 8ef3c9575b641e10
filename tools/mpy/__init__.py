"""Make .mpy files with mpy-cross, and estimate the heap that they take."""
