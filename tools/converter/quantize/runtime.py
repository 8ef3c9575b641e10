"""onnxruntime's calibrators and quantizer, quiet, and with errors that users can act on."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO

from ..errors import ConvertError


@contextmanager
def runtimes(what: str, advice: str) -> Iterator[None]:
    """Silence onnxruntime while it is called, and turn its errors into ConvertError.

    Its warnings recommend steps that were taken before.

    Args:
        what: the part of onnxruntime that is called, for a message.
        advice: what the user can do.
    """
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with redirect_stdout(StringIO()):
            yield
    except Exception as e:  # it raises none of its own
        reason = f"{type(e).__name__}: {e}"
        raise ConvertError(f"onnxruntime's {what} fails ({reason}); {advice}") from e
    finally:
        logging.disable(before)
