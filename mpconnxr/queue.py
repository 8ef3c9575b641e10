"""Runs that say when they are done: Model.submit() and Model.poll().

Submitted runs wait in a queue. Where asyncio is running a task of their own computes them in
slices; elsewhere the program calls poll() again and again. Only a program that asks imports this.
"""

from .arguments import function, integer
from .errors import MpconnxrError
from .slices import LONGEST_MS, slices
from .turn import SHORT, fresh


class Queue:
    """The runs of a model that are waiting, and the one that is under way."""

    def __init__(self, model):
        self.model = model
        self.waiting = []
        self.parts = None
        self.current = None
        self.task = None

    def poll(self, slice_ms):
        """Computes for about slice_ms; returns whether anything is left to do."""
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
        """End the run that is under way, if there is one; it never completes."""
        if self.parts:
            self.parts.close()
        self.parts = self.current = None

    async def drain(self, slice_ms, sleep):
        """Runs what was submitted while other tasks go on."""
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
    """Has the model computed for x later, and calls completed(id, result) then.

    result: the outputs, which hold until completed returns (the next run may begin then), or the
    MpconnxrError that ended the run. x is read when its run begins. Under asyncio a task computes
    in slices of slice_ms; elsewhere poll() does.
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
    """Computes submitted runs for about slice_ms; returns whether anything is left to do."""
    try:
        integer("slice_ms", slice_ms, 1, LONGEST_MS)
        return _queue(model).poll(slice_ms)
    except MemoryError:
        raise fresh(SHORT)
