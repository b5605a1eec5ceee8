"""Those who mean ill, each a process of its own: `_intruders.py JSON`. It ends when its input does, and leaves what it counted, and
the last things that it did, in the file that it was told.

    api       writes objects of _nasty.py with the rights of one namespace, changes and deletes them
    operator  the same with policies, groups and nodes, as whoever runs the cluster
    doors     connects and says one byte, half a handshake, a header without an end, or anything but TLS
    reviews   asks for admissions that the API server never would
    neighbour asks for ordinary ones, and measures
"""

import collections
import contextlib
import json
import os
import random
import socket
import ssl
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "lib"), HERE]

import _nasty  # noqa: E402
from api import Api, ApiError  # noqa: E402

# Of their own, so that they can be told from the API server, which comes from 127.0.0.1.
SOURCE = "127.0.0.66"
HELD = 300
# Says its port, and ends with its connection. It waits as the controller does, in epoll for TCP.
ECHO = """
import select, socket
door = socket.create_server(("127.0.0.1", 0))
print(door.getsockname()[1], flush=True)
end = door.accept()[0]
waits = select.epoll()
waits.register(end, select.EPOLLIN)
while waits.poll() and (sent := end.recv(65536)):
    end.sendall(sent)
"""


def _asked(sock, words):
    """(seconds, answer) of one question."""
    began = time.monotonic()
    sock.sendall(words)
    answer = sock.recv(65536)
    return time.monotonic() - began, answer


class Intruder:
    def __init__(self, told):
        self.told = told
        self.rng = random.Random("%s %s" % (told["seed"], told["name"]))
        self.ended = threading.Event()
        self.counts = collections.Counter()
        self.last = collections.deque(maxlen=20)
        self.figures = {}
        threading.Thread(target=self._await_end, daemon=True).start()

    def _await_end(self):
        sys.stdin.read()
        self.ended.set()

    def leave(self):
        with open(self.told["out"], "w", encoding="utf-8") as file:
            json.dump({"counts": self.counts, "last": list(self.last), "figures": self.figures}, file)

    def run(self):
        try:
            getattr(self, self.told["does"])()
        finally:
            self.leave()

    # Objects.

    def _try(self, what, call):
        """One request; what came of it is counted."""
        self.last.append(what)
        try:
            call()
            self.counts[what.split(" ")[0] + " done"] += 1
            return True
        except ApiError as error:
            self.counts["%s %s" % (what.split(" ")[0], error.status)] += 1
            return False

    def api(self):
        api, ns, made, number = Api(self.told["url"], self.told["ca"], self.told["token"], 20.0), self.told["namespace"], [], 0
        while not self.ended.wait(self.told["pause_s"]):
            number += 1
            dice = self.rng.random()
            if dice < 0.45 or not made:
                name = "%s-%d" % (self.told["name"], number)
                obj = _nasty.pod(self.rng, ns, name, self.told["stolen"])
                made += [name] * self._try("create %s" % name, lambda obj=obj: api.create("pods", obj))
            elif dice < 0.55:
                resource, obj = _nasty.other(self.rng, ns, "%s-o%d" % (self.told["name"], number))
                self._try("make-%s %s" % (resource, number), lambda r=resource, obj=obj: api.create(r, obj))
            elif dice < 0.72:
                patch = {"metadata": {"labels": _nasty.labels(self.rng), "annotations": _nasty.annotations(self.rng)}}
                self._try("change", lambda patch=patch: api.patch("pods", self.rng.choice(made), patch, ns))
            elif dice < 0.85:
                patch = _nasty.status(self.rng)
                self._try("forge", lambda patch=patch: api.patch("pods", self.rng.choice(made), patch, ns, "status"))
            if made and (len(made) > self.told["keeps"] or dice >= 0.85):
                name = made.pop(self.rng.randrange(len(made)))
                self._try("delete %s" % name, lambda name=name: api.delete("pods", name, ns, grace=self.rng.choice((0, 1))))

    def operator(self):
        api, made, number = Api(self.told["url"], self.told["ca"], self.told["token"], 20.0), [], 0
        while not self.ended.wait(4 * self.told["pause_s"]):
            number += 1
            resource, obj = self.rng.choice((_nasty.policy, _nasty.group, _nasty.node))(self.rng, "nasty-%d" % number)
            if self._try("make-%s %d" % (resource, number), lambda r=resource, obj=obj: api.create(r, obj)):
                made.append((resource, obj["metadata"]["name"]))
            if len(made) > 20:
                resource, name = made.pop(self.rng.randrange(len(made)))
                self._try("delete", lambda r=resource, name=name: api.delete(r, name))
        for resource, name in made:
            self._try("delete", lambda r=resource, name=name: api.delete(r, name))

    # Doors.

    def _connect(self, port, tls):
        host, _, number = port.rpartition(":")
        raw = socket.create_connection((host, int(number)), 3, source_address=(SOURCE, 0))
        if not tls:
            return raw
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context.wrap_socket(raw, server_hostname="x")

    def doors(self):
        held = collections.deque()
        hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(60)
        ways = {"one-byte": lambda s: s.send(b"\x16"), "half-handshake": lambda s: s.send(hello), "silent": lambda s: None,
                "garbage": lambda s: s.send(self.rng.randbytes(2000)), "plain-http": lambda s: s.send(b"GET / HTTP/1.1\r\n"),
                "huge-headers": lambda s: s.sendall(b"GET / HTTP/1.1\r\n" + b"X: " + b"x" * 1_000_000),
                "many-headers": lambda s: s.sendall(b"GET /metrics HTTP/1.1\r\n" + b"".join(b"H%d: x\r\n" % i for i in range(20000))),
                "long-body": lambda s: s.sendall(b"POST /admit HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n\r\n" + b"[" * 100000),
                "slow": lambda s: s.send(b"POST /admit HTTP/1.1\r\nHost: x\r\n")}
        while not self.ended.wait(0.02):
            way = self.rng.choice(sorted(ways))
            port = self.rng.choice(self.told["ports"])
            self.last.append("%s %s" % (way, port))
            try:
                # What is about HTTP comes through TLS half of the time, where there may be any.
                sock = self._connect(port, way[0] not in "oshg" and self.rng.random() < 0.5 or way in ("huge-headers", "slow"))
                held.append(sock)
                ways[way](sock)
                self.counts[way] += 1
            except (OSError, ValueError):
                self.counts[way + " refused"] += 1
            if held and self.rng.random() < 0.3:
                try:
                    self.rng.choice(held).send(b"X")  # slow loris
                except (OSError, ValueError):
                    self.counts["shut"] += 1
            while len(held) > HELD:
                held.popleft().close()

    # Reviews.

    def _body(self):
        """An AdmissionReview, or what looks a little like one."""
        ns = self.rng.choice(("made-up-%d" % self.rng.randrange(100000), "n" * 4096, "../x", ""))
        obj = _nasty.pod(self.rng, ns, "p", self.told["stolen"])
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
            "uid": _nasty.text(self.rng, 4096), "kind": {"group": "", "version": "v1", "kind": "Pod"}, "operation": "CREATE",
            "namespace": ns, "object": obj, "userInfo": {"username": "x"}}}
        return self.rng.choice((json.dumps(review).encode(), json.dumps(review).encode()[:-20], b"[" * 200000, b"{\"a\":" * 50000,
                                self.rng.randbytes(5000), b"", json.dumps(review).encode() + b" " * 2_500_000))

    def reviews(self):
        while not self.ended.wait(4 * self.told["pause_s"]):
            body, port = self._body(), self.rng.choice(self.told["ports"])
            self.last.append("review of %d bytes" % len(body))
            try:
                with self._connect(port, True) as sock:
                    sock.settimeout(10)
                    sock.sendall(b"POST /admit HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                                 % len(body) + body)
                    self.counts[sock.recv(12).decode("latin-1")] += 1
            except (OSError, ValueError):
                self.counts["shut"] += 1

    def neighbour(self):
        """An ordinary review every tenth of a second, on a kept connection, from the API server's address; and as many bytes to a process that
        only sends them back, which is what any answer takes on this machine at that time."""
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": self.told["namespace"], "annotations": {
            "aliquot.dev/gpu-fraction": "0.1"}}, "spec": {"containers": [
                {"name": "main", "image": "app", "resources": {"limits": {_nasty.GPU: "1"}}}]}}
        body = json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
            "uid": "u", "kind": {"group": "", "version": "v1", "kind": "Pod"}, "resource": {
                "group": "", "version": "v1", "resource": "pods"}, "operation": "CREATE", "namespace": self.told["namespace"],
            "name": "p", "object": pod, "userInfo": {"username": "x"}}}).encode()
        asks = b"POST /admit HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        global SOURCE  # pylint: disable=global-statement
        SOURCE = "127.0.0.1"
        # As if on a machine of its own: what it waits for is the controller. The echo has the rank that any process has.
        with contextlib.suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))
        process = subprocess.Popen(  # pylint: disable=consider-using-with
            [sys.executable, "-c", ECHO], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        echo = socket.create_connection(("127.0.0.1", int(process.stdout.readline())))
        took, echoed, sock = [], [], None
        while not self.ended.wait(0.05):
            echoed.append(_asked(echo, asks)[0])
            if self.ended.wait(0.05):
                break
            try:
                sock = sock or self._connect(self.told["ports"][0], True)
                sock.settimeout(10)
                seconds, answer = _asked(sock, asks)
                took.append(seconds)
                self.counts["answered" if b" 200 " in answer[:20] and b'"allowed":true' in answer else "wrong"] += 1
            except (OSError, ValueError):
                self.counts["lost"] += 1
                sock = None
        self.figures = {"took_ms": [round(1000 * t, 3) for t in took], "echo_ms": [round(1000 * t, 3) for t in echoed]}


if __name__ == "__main__":
    os.nice(5 if json.loads(sys.argv[1])["does"] != "neighbour" else 0)
    Intruder(json.loads(sys.argv[1])).run()
