"""Run many converted models on a MicroPython target with few processes.

A job is a model with the inputs of each run; its outcome has the outputs of each run:

    from tools.harness import Job, run_jobs
    from tools.micropython import get_target

    outcomes = run_jobs(get_target("unix"), [Job(model_bytes, [[input_bytes]])])
    outcomes[0].runs[0].outputs
"""

from .batch import RUNNER, Job, Outcome, Run, files_of, outcomes_of, run_jobs
from .objects import input_bytes, output_value

__all__ = [
    "RUNNER",
    "Job",
    "Outcome",
    "Run",
    "files_of",
    "input_bytes",
    "outcomes_of",
    "output_value",
    "run_jobs",
]
