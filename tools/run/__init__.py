"""Run a model on a MicroPython target from the command line: `python -m tools.run`.

__main__ prints these errors in one line: ConvertError (the model cannot be converted), RunError
(it does not run, or cannot be compared), TargetError, DeployError, OSError.
"""
