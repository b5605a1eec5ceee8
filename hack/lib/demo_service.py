"""What the Service in front of the webhook is in a cluster: connections go to a replica that answers."""

import contextlib
import socket
import threading

import ports
from stack import Stack


class Service:
    """Forwards connections to one port of loopback to the first of several that accepts."""

    def __init__(self, port, targets):
        """TARGETS: a function that returns the ports to try, in order."""
        self.targets = targets
        self.listener = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            server = self._connect()
            if server is None:
                client.close()
                continue
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=pump, args=(source, sink), daemon=True).start()

    def _connect(self):
        for port in self.targets():
            with contextlib.suppress(OSError):
                return socket.create_connection(("127.0.0.1", port), timeout=2)
        return None


def pump(source, sink):
    """Bytes from one to the other until either is done; then neither is of use any more."""
    source.settimeout(None)
    with contextlib.suppress(OSError):
        while True:
            data = source.recv(65536)
            if not data:
                break
            sink.sendall(data)
    for end in (source, sink):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()


class ServedStack(Stack):
    """A stack whose webhook is reached through a Service, so that it outlives any one controller."""

    service = None

    def install(self):
        super().install()
        self.service = Service(self.webhook_port, lambda: [
            c.webhook_port for c in self.controllers if c.alive()])

    def add_controller(self, arguments=(), webhook_port=None, wait_ready=True):
        if webhook_port is None:
            home, folder = self.plane.dir.rpartition("/")[0], self.plane.dir
            webhook_port = ports.reserve(home, folder, 1)[0]
        return super().add_controller(arguments, webhook_port, wait_ready)

    def down(self):
        super().down()
        if self.service is not None:
            self.service.close()
