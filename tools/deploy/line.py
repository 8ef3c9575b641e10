"""Serial line to a board: mpremote's, with limits on the length and duration of answers."""

from __future__ import annotations

import time

from mpremote.transport import TransportError
from mpremote.transport_serial import SerialTransport

MAX_BYTES = 1 << 20  # of an answer; 10,000 files' sizes are fewer
_WAITS = 10  # duration of an answer in timeouts, at most
_LOOK = 0.01  # s between two reads


class Line(SerialTransport):
    """mpremote's serial transport with limits on each answer.

    Attributes:
        max_bytes: largest answer.
        seconds: longest time that the board may go on printing when it is interrupted.
    """

    max_bytes = MAX_BYTES
    seconds = 10.0
    _ahead = b""  # bytes behind the last ending

    def read_until(
        self, min_num_bytes, ending, timeout=10, data_consumer=None, timeout_overall=None
    ) -> bytes:
        """Read until an ending, or until nothing has arrived for `timeout` seconds.

        The method of mpremote that it replaces reads one byte at a time, and copies all bytes for
        each.

        Args:
            min_num_bytes: not used.
            ending: last bytes of the answer.
            timeout: seconds without a byte.
            data_consumer: not used.
            timeout_overall: seconds for the whole answer.

        Raises:
            TransportError: if the board prints more than `max_bytes`, or for too long.
        """
        received, searched = bytearray(self.ahead()), 0
        start = last = time.monotonic()
        while (at := received.find(ending, max(0, searched - len(ending) + 1))) < 0:
            searched = len(received)
            if searched > self.max_bytes:
                raise TransportError(f"the board prints over {self.max_bytes:,} bytes")
            data = self._come()
            now = time.monotonic()
            received += data
            last = now if data else last
            if timeout is not None and now >= last + timeout:
                return bytes(received)
            if timeout_overall is not None and now >= start + timeout_overall:
                return bytes(received)
            if timeout and now >= start + timeout * _WAITS:
                raise TransportError(f"the board prints for over {timeout * _WAITS:.0f} seconds")
        end = at + len(ending)
        self._ahead = bytes(received[end:])
        return bytes(received[:end])

    def ahead(self) -> bytes:
        """Return the bytes that arrived behind the last ending, and forget them."""
        ahead, self._ahead = self._ahead, b""
        return ahead

    def _come(self):
        waiting = self.serial.inWaiting()
        if waiting or self.is_pty:
            return self.serial.read(max(1, waiting))
        time.sleep(_LOOK)
        return b""

    def enter_raw_repl(self, soft_reset=True, timeout_overall=10) -> None:
        """Interrupt the running code, and enter the raw REPL.

        Raises:
            TransportError: if the board does not stop printing, or has no raw REPL.
        """
        self.serial.write(b"\r\x03")
        until, n = time.monotonic() + self.seconds, len(self.ahead())
        while waiting := self.serial.inWaiting():
            n += len(self.serial.read(waiting))
            if n > self.max_bytes or time.monotonic() > until:
                raise TransportError("the board does not stop printing")
        super().enter_raw_repl(soft_reset, timeout_overall)
