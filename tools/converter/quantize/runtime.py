"""onnxruntime's calibrators and quantizer, quiet, and with errors that users can act on."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO

from ..errors import ConvertError


@contextmanager
def runtimes(what: str, advice: str) -> Iterator[None]:
    """Around calls of onnxruntime's `what`. Raises ConvertError for whatever it stumbles over.

    Its warnings recommend steps that were taken before, its prints tell what it does.
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
