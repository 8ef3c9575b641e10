"""Runs that report when they are done: Model.submit() and Model.poll().

Submitted runs wait in a queue. Under asyncio a task computes them in slices; elsewhere the program
calls poll() again and again. Only a program that calls one of these imports this module.
"""

from .arguments import function, integer
from .errors import MpconnxrError
from .slices import LONGEST_MS, slices
from .turn import SHORT, fresh


class Queue:
    """The submitted runs of a model.

    Attributes:
        waiting: (x, id, completed) of each run that has not begun.
        current: (x, id, completed) of the run that has begun, or None.
        parts: generator that computes the current run, or None.
        task: the task of asyncio that computes, or None.
    """

    def __init__(self, model):
        self.model = model
        self.waiting = []
        self.parts = None
        self.current = None
        self.task = None

    def poll(self, slice_ms):
        """Compute for about slice_ms; return True if anything is left to do."""
        if self.parts is None:
            if not self.waiting:
                return False
            self.current = self.waiting.pop(0)
            self.parts = slices(self.model).begin(self.current[0], slice_ms)
        _, id, completed = self.current
        try:
            next(self.parts)
            return True
        except StopIteration:
            result = self.model.outputs
        except MpconnxrError as e:
            result = e
        except BaseException:
            self.drop()
            raise
        self.parts = self.current = None
        completed(id, result)
        return bool(self.waiting)

    def drop(self):
        """End the run that has begun, if any. It never completes."""
        if self.parts:
            self.parts.close()
        self.parts = self.current = None

    async def drain(self, slice_ms, sleep):
        """Compute the submitted runs while other tasks go on."""
        try:
            while self.poll(slice_ms):
                await sleep(0)
        finally:
            self.task = None


def _queue(model):
    if "_queue" not in model.__dict__:
        model._queue = Queue(model)
    return model._queue


def submit(model, x, id, completed, slice_ms=5):
    """Queue a run; completed(id, result) is called after it.

    Under asyncio a task computes in slices of slice_ms; elsewhere poll() does.

    Args:
        model: the model.
        x: as for Model.run; it is read when the run begins.
        id: passed to completed.
        completed: function of (id, result). result: the outputs, which hold until completed
            returns as the next run may begin then, or the MpconnxrError that ended the run.
        slice_ms: about the longest time for which asyncio's task keeps the processor.
    """
    try:
        function("completed", completed)
        integer("slice_ms", slice_ms, 1, LONGEST_MS)
        queue = _queue(model)
        queue.waiting.append((x, id, completed))
        try:
            import asyncio

            asyncio.current_task()
        except (ImportError, AttributeError, RuntimeError):  # no asyncio, or it is not running
            return
        if queue.task is None:
            queue.task = asyncio.create_task(queue.drain(slice_ms, asyncio.sleep))
    except MemoryError:
        raise fresh(SHORT)


def poll(model, slice_ms=5):
    """Compute submitted runs for about slice_ms; return True if anything is left to do."""
    try:
        integer("slice_ms", slice_ms, 1, LONGEST_MS)
        return _queue(model).poll(slice_ms)
    except MemoryError:
        raise fresh(SHORT)
