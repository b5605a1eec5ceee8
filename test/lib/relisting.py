"""An API server that has no watch-list: a proxy in front of the real one, which refuses it, counts the bytes of lists as
they are on the wire, and forgets a continue token when it is told to."""

import http.client
import http.server
import json
import ssl
import threading
import urllib.parse

NOT_PASSED_ON = {"connection", "transfer-encoding", "content-length", "keep-alive"}


class Listed:
    """One answer to a list or watch."""

    def __init__(self, path, query, headers, answered):
        self.path, self.query, self.answered = path, query, answered
        self.accepts = headers.get("Accept-Encoding", "")
        self.encoding, self.bytes = "", 0


class Relisting:
    def __init__(self, plane, user="controller"):
        with open(plane.kubeconfig(user), encoding="utf-8") as file:
            self.config = json.load(file)
        cluster = self.config["clusters"][0]["cluster"]
        self.upstream = urllib.parse.urlsplit(cluster["server"])
        self.trust = ssl.create_default_context(cafile=plane.certificate)
        self.answers, self.lock, self.expire = [], threading.Lock(), 0
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(plane.certificate, plane.certificate[:-len("crt")] + "key")
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                outer.pass_on(self)
            do_POST = do_PATCH = do_PUT = do_DELETE = do_GET

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        cluster["server"] = "https://127.0.0.1:%d" % self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def kubeconfig(self, path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.config, file)
        return path

    def of(self, path, watches=False):
        with self.lock:
            return [a for a in self.answers if a.path == path and a.answered == 200 and ("watch" in a.query) == watches]

    def _refusal(self, query):
        if "sendInitialEvents" in query:
            return 422, "Invalid", "sendInitialEvents is forbidden"
        with self.lock:
            if "continue" in query and self.expire > 0:
                self.expire -= 1
                return 410, "Expired", "the provided continue parameter is too old"
        return None

    def _answer(self, handler, status, body):
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def pass_on(self, handler):
        url = urllib.parse.urlsplit(handler.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        refusal = self._refusal(query)
        if refusal is not None:
            self._answer(handler, refusal[0], json.dumps({
                "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": refusal[0], "reason": refusal[1],
                "message": refusal[2]}).encode())
            return
        inner = http.client.HTTPSConnection(self.upstream.hostname, self.upstream.port, context=self.trust)
        try:
            headers = {k: v for k, v in handler.headers.items() if k.lower() not in NOT_PASSED_ON | {"host"}}
            inner.request(handler.command, handler.path, body or None, headers)
            answer = inner.getresponse()
            self._copy(handler, answer, Listed(url.path, query, handler.headers, answer.status))
        except (OSError, http.client.HTTPException):
            # One of the two has gone: so does the other.
            handler.close_connection = True
        finally:
            inner.close()

    def _copy(self, handler, answer, listed):
        listed.encoding = answer.getheader("Content-Encoding") or ""
        if handler.command == "GET":
            with self.lock:
                self.answers.append(listed)
        handler.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in NOT_PASSED_ON:
                handler.send_header(name, value)
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.close_connection = True
        while True:
            piece = answer.read1(65536)
            if not piece:
                break
            listed.bytes += len(piece)
            handler.wfile.write(piece)
