"""The playground: docs/playground with MicroPython and the device package beside it."""
