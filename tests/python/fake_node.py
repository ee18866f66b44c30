"""A node for tests of the client: it answers as it is told, over TCP or a unix socket, and keeps what it was asked."""
import collections
import http.server
import json
import os
import socketserver
import threading

Asked = collections.namedtuple("Asked", "method path query headers body")


class _Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def handle_error(self, *_):  # pylint: disable=arguments-differ
        pass  # a client that waits no longer


class FakeNode:
    """answers: a function of an Asked to (status, body) or (status, body, headers); "drop" ends the connection
    without an answer, "half" amid one."""

    def __init__(self, answers, path=None):
        self.asked = []
        self._answers = answers
        self._lock = threading.Lock()
        node = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def serve(self):
                node.serve(self)

            do_GET = do_POST = do_PUT = do_DELETE = serve

            def log_message(self, *_):  # pylint: disable=arguments-differ
                pass

            def address_string(self):
                return "client"

        server = type("Server", (_Server,), {"address_family": 1 if path else 2,
                                             "server_bind": socketserver.TCPServer.server_bind})
        self.server = server(path or ("127.0.0.1", 0), Handler)
        self.address = path or "127.0.0.1:%d" % self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def serve(self, handler):
        path, _, query = handler.path.partition("?")
        size = int(handler.headers.get("Content-Length") or 0)
        body = handler.rfile.read(size)
        asked = Asked(handler.command, path, query, dict(handler.headers), json.loads(body) if body else None)
        with self._lock:
            self.asked.append(asked)
            answer = self._answers(asked)
        handler.close_connection = False
        if answer == "drop":
            handler.close_connection = True
            return
        if answer == "half":
            handler.close_connection = True
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
            return
        status, content, *more = answer
        data = b"" if content is None else content.encode() if isinstance(content, str) else json.dumps(content).encode()
        handler.send_response(status)
        headers = more[0] if more else {}
        if not isinstance(content, str) and content is not None:
            headers = {"Content-Type": "application/json", **headers}
        for name, value in headers.items():
            handler.send_header(name, value)
        if status != 204:
            handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        if status != 204:
            handler.wfile.write(data)

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
        if os.path.exists(self.address):
            os.unlink(self.address)


def once(*answers):
    """These answers, one after another, the last one for ever."""
    left = list(answers)
    return lambda asked: left.pop(0) if len(left) > 1 else left[0]
