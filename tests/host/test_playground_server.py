"""The playground's server answers malformed requests or hangs up, in silence."""

import socket
import threading

import pytest

from tools.playground.serve import server

# Path: what the status can be. A folder beside the one that is served is never shown.
PATHS = {
    b"/": (200,),
    b"/page.js": (200,),
    b"/page.js?x=%00": (200,),
    b"/%00": (404,),
    b"/page.js%00": (404,),
    b"/a%00b/c": (404,),
    b"/%ff%fe": (404,),
    b"/\xff\xfe": (404,),
    b"/../secret": (404,),
    b"/%2e%2e/secret": (404,),
    b"/..%2fsecret": (404,),
    b"/..%5csecret": (404,),
    b"//secret": (404,),
    b"///etc/passwd": (404,),
    b"/" + b"a" * 5000: (404,),
    b"/" + b"a/" * 3000: (404,),
    b"/%": (404,),
    b"/%zz": (404,),
    b"/%0d%0aX:%20y": (404,),
    b"/" + b"a" * 70000: (414,),
    b"*": (404,),
}
REQUESTS = {
    "nothing": b"",
    "no path": b"GET  HTTP/1.1\r\n\r\n",
    "bytes": bytes(range(1, 256)) + b"\r\n\r\n",
    "method": b"BREW / HTTP/1.1\r\n\r\n",
    "post": b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    "version": b"GET / HTTP/9.x\r\n\r\n",
    "many headers": b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 300 + b"\r\n",
    "long header": b"GET / HTTP/1.1\r\na: " + b"b" * 70000 + b"\r\n\r\n",
    "no colon": b"GET / HTTP/1.1\r\n\x00\xff\r\n\r\n",
    "date": b"GET / HTTP/1.1\r\nIf-Modified-Since: 99 \xff 9999999999999\r\n\r\n",
    "far date": b"GET / HTTP/1.1\r\nIf-Modified-Since: Mon, 01 Jan 0000 99:99:99 GMT\r\n\r\n",
    "range": b"GET / HTTP/1.1\r\nRange: bytes=-1-99999999999999999999\r\n\r\n",
    "hang up": b"GET /page.js HTTP/1.1\r\n",
}


@pytest.fixture
def ask(tmp_path, capfd):
    """Yield a function from a request's bytes to the server's answer.

    The server must print nothing.
    """
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "index.html").write_text("page")
    (folder / "page.js").write_text("script " * 100_000)
    (tmp_path / "secret").write_text("secret")
    running = server(folder, 0)
    thread = threading.Thread(target=running.serve_forever)
    thread.start()

    def asked(request):
        with socket.create_connection(running.server_address, timeout=20) as link:
            answer = b""
            try:
                link.sendall(request)
                link.shutdown(socket.SHUT_WR)
                while piece := link.recv(1 << 16):
                    answer += piece
            except ConnectionError:  # it hangs up on a request that is too long
                pass
        return answer

    asked.address = running.server_address
    yield asked
    running.shutdown()
    thread.join()
    running.server_close()
    printed = capfd.readouterr()
    assert printed.out + printed.err == ""


@pytest.mark.parametrize("path", PATHS, ids=lambda path: repr(path[:20]))
def test_only_files_of_the_site_are_served(ask, path):
    answer = ask(b"GET " + path + b" HTTP/1.1\r\n\r\n")
    assert b"secret" not in answer.partition(b"\r\n\r\n")[2].replace(path, b"")
    assert not answer or int(answer.split()[1]) in PATHS[path], answer[:200]
    assert answer or path == b"/" + b"a" * 70000
    assert ask(b"GET / HTTP/1.1\r\n\r\n").endswith(b"page")


@pytest.mark.parametrize("name", REQUESTS)
def test_malformed_requests_are_refused(ask, name):
    ask(REQUESTS[name])
    assert ask(b"GET / HTTP/1.1\r\n\r\n").endswith(b"page")


def test_a_reader_that_leaves_does_no_harm(ask, tmp_path):
    (tmp_path / "site" / "page.js").write_bytes(bytes(30 << 20))
    for method in (b"GET", b"HEAD"):
        for _ in range(3):
            with socket.create_connection(ask.address) as link:
                linger = b"\1\0\0\0\0\0\0\0"  # so that closing resets the connection
                link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                link.sendall(method + b" /page.js HTTP/1.1\r\n\r\n")
    assert ask(b"GET / HTTP/1.1\r\n\r\n").endswith(b"page")
