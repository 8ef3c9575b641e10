"""The serial line to a board: mpremote's, which ends whatever the board prints."""

from __future__ import annotations

import time

from mpremote.transport import TransportError
from mpremote.transport_serial import SerialTransport

MOST_BYTES = 1 << 20  # of an answer: the sizes of 10,000 files are less
_WAITS = 10  # a whole answer may take so many times as long as the board may be silent
_LOOK = 0.01  # s between two looks for a byte


class Line(SerialTransport):
    """mpremote's line, with bounds on the bytes and the time of each answer.

    most_bytes: of one answer; seconds: of what a board goes on to print when it is interrupted.
    """

    most_bytes = MOST_BYTES
    seconds = 10.0
    _ahead = b""  # what came behind the last ending

    def read_until(
        self, min_num_bytes, ending, timeout=10, data_consumer=None, timeout_overall=None
    ) -> bytes:
        """Return what comes up to an ending, or until nothing has come for `timeout` seconds.

        mpremote takes a byte at a time, and copies all of them for each. data_consumer: not used.

        Raises:
            TransportError: if the board prints more than `most_bytes`, or prints too long.

        """
        found, searched = bytearray(self.ahead()), 0
        start = last = time.monotonic()
        while (at := found.find(ending, max(0, searched - len(ending) + 1))) < 0:
            searched = len(found)
            if searched > self.most_bytes:
                raise TransportError(f"the board prints over {self.most_bytes:,} bytes")
            data = self._come()
            now = time.monotonic()
            found += data
            last = now if data else last
            if timeout is not None and now >= last + timeout:
                return bytes(found)
            if timeout_overall is not None and now >= start + timeout_overall:
                return bytes(found)
            if timeout and now >= start + timeout * _WAITS:
                raise TransportError(f"the board prints for over {timeout * _WAITS:.0f} seconds")
        end = at + len(ending)
        self._ahead = bytes(found[end:])
        return bytes(found[:end])

    def ahead(self) -> bytes:
        """Return what was read behind the last ending, once."""
        ahead, self._ahead = self._ahead, b""
        return ahead

    def _come(self):
        waiting = self.serial.inWaiting()
        if waiting or self.is_pty:
            return self.serial.read(max(1, waiting))
        time.sleep(_LOOK)
        return b""

    def enter_raw_repl(self, soft_reset=True, timeout_overall=10) -> None:
        """Interrupt what runs, and enter the raw REPL.

        Raises:
            TransportError: if the board goes on to print, or has no raw REPL.

        """
        self.serial.write(b"\r\x03")
        until, n = time.monotonic() + self.seconds, len(self.ahead())
        while waiting := self.serial.inWaiting():
            n += len(self.serial.read(waiting))
            if n > self.most_bytes or time.monotonic() > until:
                raise TransportError("the board does not stop printing")
        super().enter_raw_repl(soft_reset, timeout_overall)
