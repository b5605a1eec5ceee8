"""The PodResources API of a fake node: which pod has which device, as gRPC over a unix socket.

HTTP/2 as far as one call on a connection needs it: frames are read only to see where the call ends, headers are written
without compression and never read, since there is one method. Whoever listens is told by what `pods()` returns, or by the
mood that a test gives it.
"""

import contextlib
import os
import socket
import struct
import threading

RESOURCE = "nvidia.com/gpu"
# Below the folder that plays the node's root.
PATH = "var/lib/kubelet/pod-resources/kubelet.sock"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, WINDOW = 0, 1, 4, 8
END_STREAM, ACK, END_HEADERS = 1, 1, 4
WINDOW_BYTES, FRAME_BYTES = 65535, 16384
MOODS = ("well", "hang", "garbage", "nonsense", "large", "deny")


def varint(value):
    out = bytearray()
    while value > 0x7f:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def field(number, data):
    """A field of text or of a message."""
    data = data.encode() if isinstance(data, str) else data
    return varint(number << 3 | 2) + varint(len(data)) + data


def listing(pods):
    """ListPodResourcesResponse of [(namespace, name, {container: [UUID]})]."""
    out = []
    for namespace, name, shares in pods:
        containers = []
        for container, uuids in shares.items():
            devices = field(2, field(1, RESOURCE) + b"".join(field(2, uuid) for uuid in uuids)) if uuids else b""
            containers.append(field(3, field(1, container) + devices))
        out.append(field(1, field(1, name) + field(2, namespace) + b"".join(containers)))
    return b"".join(out)


def frame(kind, flags, payload, stream=1):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def headers(flags, **pairs):
    block = b"".join(b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()
                     for name, value in ((name.replace("_", "-"), value) for name, value in pairs.items()))
    return frame(HEADERS, flags | END_HEADERS, block)


def head(flags=0, **more):
    """The beginning of an answer; ":status" is the eighth of the table that everybody knows."""
    rest = headers(flags, content_type="application/grpc", **more)
    return frame(HEADERS, flags | END_HEADERS, b"\x88" + rest[9:])


class Visit:
    """One connection and its one call."""

    def __init__(self, sock):
        self.sock, self.buffer = sock, b""
        self.window = WINDOW_BYTES
        self.stream_window = WINDOW_BYTES

    def _read(self, size):
        while len(self.buffer) < size:
            data = self.sock.recv(65536)
            if not data:
                raise ConnectionError("hung up")
            self.buffer += data
        taken, self.buffer = self.buffer[:size], self.buffer[size:]
        return taken

    def turn(self):
        """One frame; whether the call ends with it."""
        size, kind, flags, stream = struct.unpack(">IBBI", b"\0" + self._read(9))
        payload = self._read(size)
        if kind == WINDOW:
            more, = struct.unpack(">I", payload)
            if stream == 0:
                self.window += more
            else:
                self.stream_window += more
        elif kind == SETTINGS and not flags & ACK:
            for at in range(0, size, 6):
                key, value = struct.unpack(">HI", payload[at:at + 6])
                if key == 4:
                    self.stream_window += value - WINDOW_BYTES
            self.sock.sendall(frame(SETTINGS, ACK, b"", 0))
        return kind in (DATA, HEADERS) and bool(flags & END_STREAM)

    def ask(self):
        """Until the call has been heard."""
        if self._read(len(PREFACE)) != PREFACE:
            raise ConnectionError("no HTTP/2")
        self.sock.sendall(frame(SETTINGS, 0, b"", 0))
        while not self.turn():
            pass

    def answer(self, message):
        data = b"\0" + struct.pack(">I", len(message)) + message
        self.sock.sendall(head())
        while data:
            room = min(self.window, self.stream_window, FRAME_BYTES)
            if room <= 0:
                self.turn()
                continue
            piece, data = data[:room], data[room:]
            self.window -= len(piece)
            self.stream_window -= len(piece)
            self.sock.sendall(frame(DATA, 0, piece))
        self.sock.sendall(headers(END_STREAM, grpc_status="0"))


class PodResources:
    """Answers on the socket until it is stopped."""

    def __init__(self, root, pods):
        self.path = os.path.join(root, PATH)
        self.pods = pods
        self.mood = "well"
        self.asked = 0
        self.sock, self.free = None, threading.Event()
        self.begin()

    def begin(self):
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # An address has 107 bytes, and folders of tests are deep.
        folder = os.open(os.path.dirname(self.path), os.O_PATH | os.O_DIRECTORY)
        try:
            self.sock.bind("/proc/self/fd/%d/%s" % (folder, os.path.basename(self.path)))
        finally:
            os.close(folder)
        self.sock.listen(8)
        self.free.clear()
        threading.Thread(target=self._serve, args=(self.sock,), name="pod-resources", daemon=True).start()

    def stop(self):
        """As a kubelet that ends: nobody listens, and whoever waits is let go."""
        if self.sock is not None:
            with contextlib.suppress(OSError):
                self.sock.shutdown(socket.SHUT_RDWR)
            self.sock.close()
            self.sock = None
            self.free.set()

    def be(self, mood):
        """One of MOODS, or away; it comes back as a kubelet that was started anew."""
        if mood == "away":
            self.stop()
            return
        if mood not in MOODS:
            raise ValueError("no mood is called %s" % mood)
        self.mood = mood
        if self.sock is None:
            self.begin()

    def _serve(self, listener):
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._visit, args=(sock,), daemon=True).start()

    def _visit(self, sock):
        with sock, contextlib.suppress(OSError, struct.error):
            sock.settimeout(60)
            self.asked += 1
            if self.mood == "hang":
                self.free.wait(60)
                return
            if self.mood == "garbage":
                sock.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" + bytes(range(256)) * 4)
                return
            visit = Visit(sock)
            visit.ask()
            if self.mood == "deny":
                sock.sendall(head(END_STREAM, grpc_status="7", grpc_message="not you"))
            elif self.mood == "nonsense":
                visit.answer(b"\xff" * 40)
            elif self.mood == "large":
                visit.answer(field(7, b"x" * (3 << 20)))
            else:
                visit.answer(listing(self.pods()))
            # Until it hangs up: a connection that ends first would take the answer with it.
            while sock.recv(65536):
                pass
