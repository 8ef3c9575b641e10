"""Serves a folder to browsers on this computer."""

from __future__ import annotations

import sys
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class _Handler(SimpleHTTPRequestHandler):
    # A system's own table of types may lack these, and a browser insists on them.
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }

    def end_headers(self):
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def send_head(self):
        """As the base class does; a path that no file system has is one that is absent."""
        try:
            return super().send_head()
        except ValueError:  # it contains a NUL
            self.send_error(HTTPStatus.NOT_FOUND)
            return None

    def log_message(self, *_):
        """Nothing: the terminal is for the address."""


class _Server(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """Nothing for a browser that leaves; else what the base class prints."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def server(folder: Path, port: int) -> ThreadingHTTPServer:
    """A server of the folder, which listens on this computer's own address alone."""
    return _Server(("127.0.0.1", port), partial(_Handler, directory=str(folder)))
