"""Draw the arena over time: x is the step, y the offset in bytes, a box is a tensor."""

from __future__ import annotations

from markupsafe import Markup

from ..plan import Block, Plan
from .svg import element

_WIDTH, _HEIGHT = 1040.0, 360.0  # of the plot, in pixels; wider for many steps
_LEFT, _RIGHT, _TOP, _BOTTOM = 76.0, 14.0, 22.0, 34.0  # margins
_NARROWEST = 7.0  # least width of a step in pixels
_CHAR = 7.0  # width of a label's character in pixels
_GRID_LINES = 4


def draw(plan: Plan, n_steps: int) -> Markup:
    """Return an <svg>, empty for a model that needs no arena."""
    if not plan.arena_bytes:
        return Markup("")
    return _Map(plan, n_steps).svg()


class _Map:
    """A drawing of one arena plan."""

    def __init__(self, plan, n_steps):
        self.plan, self.n_steps = plan, n_steps
        self.step_width = max(_WIDTH / (n_steps + 2), _NARROWEST)
        self.width = self.step_width * (n_steps + 2)  # before the first and after the last
        self.peak = max(range(-1, n_steps + 1), key=self.plan.bytes_alive)

    def svg(self):
        whole_width, whole_height = _LEFT + self.width + _RIGHT, _TOP + _HEIGHT + _BOTTOM
        parts = [*self._grid(), *map(self._box, self.plan.blocks), *self._peak(), *self._axis()]
        return element(
            "svg",
            *parts,
            class_="map",
            width=whole_width,
            height=whole_height,
            viewBox=f"0 0 {whole_width:.0f} {whole_height:.0f}",
            role="img",
            aria_label="tensors in the arena over the steps",
        )

    def _x(self, step):
        return _LEFT + (step + 1) * self.step_width

    def _y(self, offset):
        return _TOP + _HEIGHT * (1 - offset / self.plan.arena_bytes)

    def _grid(self):
        """Yield lines at parts of the arena, labelled with their bytes."""
        for i in range(_GRID_LINES + 1):
            nbytes = self.plan.arena_bytes * i // _GRID_LINES
            y = self._y(nbytes)
            yield element("line", x1=_LEFT, x2=_LEFT + self.width, y1=y, y2=y, class_="grid")
            yield element("text", f"{nbytes:,}", x=_LEFT - 6, y=y + 4, class_="bytes")

    def _box(self, block: Block):
        x, y = self._x(block.first), self._y(block.offset + block.nbytes)
        width = self._x(block.last + 1) - x
        height = max(self._y(block.offset) - y, 1.5)  # a small tensor must be visible
        kind = self._kind(block)
        shape = "×".join(map(str, block.tensor.shape))
        name = f"{block.tensor.name or kind} {shape}"
        when = f"steps {max(block.first, 0)} to {min(block.last, self.n_steps - 1)}"
        title = element("title", f"{name}\n{block.nbytes:,} bytes at {block.offset:,}, {when}")
        rect = element("rect", title, x=x, y=y, width=width, height=height, class_=kind)
        fitting = int((width - 8) / _CHAR)
        if height < 13 or fitting < 4:
            return rect
        label = name if len(name) <= fitting else name[: fitting - 1] + "…"
        return rect + element("text", label, x=x + 4, y=y + height / 2 + 4, class_="label")

    def _kind(self, block):
        if block.first < 0:
            return "input"
        if block.last >= self.n_steps:
            return "output"
        return "inner" if block.first < block.last else "scratch"

    def _peak(self):
        x = self._x(self.peak) + self.step_width / 2
        yield element("line", x1=x, x2=x, y1=_TOP - 6, y2=_TOP + _HEIGHT, class_="peak")
        at_end = x > _LEFT + self.width / 2
        label = f"peak: {self.plan.bytes_alive(self.peak):,} bytes alive at step {self.peak}"
        anchor = "end" if at_end else "start"
        yield element("text", label, x=x, y=_TOP - 9, class_="peak-label", text_anchor=anchor)

    def _axis(self):
        """Yield step numbers, as many as fit."""
        every = max(1, round(48 / self.step_width))
        for step in range(0, self.n_steps, every):
            x = self._x(step) + self.step_width / 2
            yield element("text", str(step), x=x, y=_TOP + _HEIGHT + 15, class_="step")
        middle = _LEFT + min(self.width, _WIDTH) / 2
        yield element("text", "step", x=middle, y=_TOP + _HEIGHT + 30, class_="step")
