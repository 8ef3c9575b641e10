"""Running a model on a MicroPython target from the command line: `python -m tools.run`."""
