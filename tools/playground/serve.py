"""Serve a folder to browsers on this computer."""

from __future__ import annotations

import sys
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class _Handler(SimpleHTTPRequestHandler):
    # The system's table may lack these types, which browsers require.
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }

    def end_headers(self):
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def send_head(self):
        """Send a file as the base class does; treat a path that no file can have as missing."""
        try:
            return super().send_head()
        except ValueError:  # it contains a NUL
            self.send_error(HTTPStatus.NOT_FOUND)
            return None

    def log_message(self, *_):
        """Print nothing: the terminal shows only the address."""


class _Server(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """Ignore a browser that disconnects; print other errors."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def server(folder: Path, port: int) -> ThreadingHTTPServer:
    """Return a server of the folder that listens only on this computer's own address."""
    return _Server(("127.0.0.1", port), partial(_Handler, directory=str(folder)))
