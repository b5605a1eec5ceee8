"""Clients that mean ill: they open connections, say little, and come again when they are thrown out.

    with Storm(port, storm.half_handshake(), sources=["127.0.0.7"]) as crowd:
        crowd.wait_tried(1100)
"""

import contextlib
import resource
import selectors
import socket
import ssl
import threading

from waiting import wait_until


def one_byte():
    return b"\x16"


def half_handshake():
    """A whole ClientHello: the server has to answer it, and then waits."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing).do_handshake()
    return outgoing.read()


def half_request():
    return b"GET /metrics HTTP/1.1\r\nHost: a"


def page(path):
    return b"GET %s HTTP/1.1\r\nHost: a\r\n\r\n" % path.encode()


def no_review():
    """The route of reviews answers that it names none, and the connection stays."""
    return b"POST /admit HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"


class Askers:
    """AT_ONCE connections from one address that ask the same again and again, many questions ahead of the answers."""

    AHEAD = 16

    def __init__(self, port, question, at_once=60, source="127.0.0.7", context=None):
        self.answers = 0
        self._question, self._done = question, threading.Event()
        self._select = selectors.DefaultSelector()
        for _ in range(at_once):
            client = socket.create_connection(("127.0.0.1", port), 10, (source, 0))
            client = context.wrap_socket(client) if context else client
            self._select.register(client, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._done.set()
        self._thread.join(60)
        for key in list(self._select.get_map().values()):
            key.fileobj.close()
        self._select.close()

    def wait_answers(self, count, timeout=60):
        wait_until(lambda: self.answers >= count, timeout, lambda: "%d answers, not %d" % (self.answers, count))

    def _hear(self, client):
        data = client.recv(1 << 20)
        if not data:
            self._select.unregister(client)
            client.close()
            return False
        heads = data.count(b"HTTP/1.1 ")
        self.answers += heads
        client.sendall(self._question * heads)
        return isinstance(client, ssl.SSLSocket) and client.pending()

    def _run(self):
        for key in list(self._select.get_map().values()):
            key.fileobj.sendall(self._question * self.AHEAD)
        while not self._done.is_set():
            for key, _ in self._select.select(0.05):
                with contextlib.suppress(OSError):
                    while self._hear(key.fileobj):
                        pass


class Storm:
    """AT_ONCE connections to a port, from these source addresses in turns, until the block ends."""

    def __init__(self, port, words, at_once=1100, sources=("127.0.0.7",), host="127.0.0.1"):
        self.to, self.words, self.at_once, self.sources = (host, port), words, at_once, sources
        self.tried = 0
        self._open = {}
        self._select = selectors.DefaultSelector()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._done.set()
        self._thread.join(60)
        for client in list(self._open.values()):
            client.close()
        self._select.close()

    def wait_tried(self, count, timeout=60):
        wait_until(lambda: self.tried >= count, timeout, lambda: "%d connections to be tried, not %d" % (
            count, self.tried))

    def _come(self):
        client = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        client.settimeout(0.5)
        try:
            client.bind((self.sources[self.tried % len(self.sources)], 0))
            client.connect(self.to)
            client.send(self.words)
        except OSError:
            client.close()
            return
        finally:
            self.tried += 1
        client.setblocking(False)
        self._open[client.fileno()] = client
        self._select.register(client, selectors.EVENT_READ)

    def _leave(self, number):
        client = self._open.pop(number)
        self._select.unregister(client)
        client.close()

    def _run(self):
        while not self._done.is_set():
            for key, _ in self._select.select(0 if len(self._open) < self.at_once else 0.02):
                try:
                    gone = not self._open[key.fd].recv(65536)
                except BlockingIOError:
                    continue
                except OSError:
                    gone = True
                if gone:
                    self._leave(key.fd)
            for _ in range(min(20, self.at_once - len(self._open))):
                self._come()
