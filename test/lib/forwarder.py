"""A Service for controllers that run outside the cluster: one port, the ready ones behind it.

What the kubelet's readiness probe and kube-proxy do between them: a connection goes to a backend
whose /readyz was 200 at the last look, established connections stay where they are, and a backend
that refuses is skipped.
"""

import contextlib
import itertools
import socket
import threading
import urllib.request

PROBE_EVERY_S = 0.2
# As long as the API server waits for the webhook: who answers in that time would have answered that, too.
PROBE_TIMEOUT_S = 2.0


class Forwarder:
    """Give it a function that tells the backends: pairs of (port, URL of /readyz)."""

    def __init__(self, port, backends):
        self._backends = backends
        self._ready = ()
        self._turn = itertools.count()
        self._ended = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", port))
        self._threads = [threading.Thread(target=work, daemon=True)
                         for work in (self._accept, self._probe)]

    def start(self):
        for thread in self._threads:
            thread.start()
        return self

    def stop(self):
        self._ended.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(5)

    def ready(self):
        """The ports that new connections go to."""
        return self._ready

    def _probe(self):
        while not self._ended.wait(PROBE_EVERY_S):
            self._ready = tuple(port for port, url in self._backends() if self._is_ready(url))

    @staticmethod
    def _is_ready(url):
        try:
            with urllib.request.urlopen(url, timeout=PROBE_TIMEOUT_S) as answer:
                return answer.status == 200
        except OSError:
            return False

    def _accept(self):
        while not self._ended.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _connect(self):
        ports = self._ready
        start = next(self._turn)
        for i in range(len(ports)):
            with contextlib.suppress(OSError):
                return socket.create_connection(
                    ("127.0.0.1", ports[(start + i) % len(ports)]), timeout=2)
        return None

    def _serve(self, client):
        server = self._connect()
        if server is None:
            client.close()
            return
        server.settimeout(None)
        back = threading.Thread(target=_pump, args=(server, client), daemon=True)
        back.start()
        _pump(client, server)
        back.join()
        client.close()
        server.close()


def _pump(source, target):
    """Copies until the source ends; then the target hears of it."""
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    for end in (source, target):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
