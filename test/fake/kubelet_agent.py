"""The agent of a fake node: it answers /v1/state as docs/design/state.md says, from what really runs.

A pod with the label aliquot.dev/agent in aliquot-system is one, wherever a DaemonSet puts it. Its certificate
is issued here, by the authority in the product's Secret: a stand-in for the Secret that real agents mount.
"""

import base64
import http.server
import json
import os
import ssl
import subprocess
import threading
import time
import uuid

from api import ApiError

NAMESPACE = "aliquot-system"
SECRET = "aliquot-webhook"
NAME = "aliquot-agent.aliquot-system.svc"


def port_of(pod):
    """The port of an agent's pod that is called state; None for any other pod."""
    meta = pod["metadata"]
    if meta["namespace"] != NAMESPACE or (meta.get("labels") or {}).get("aliquot.dev/agent") != "true":
        return None
    ports = [port for container in pod["spec"]["containers"] for port in container.get("ports") or []]
    return next((port["containerPort"] for port in ports if port.get("name") == "state"), None)


def openssl(folder, *argv):
    subprocess.run(["openssl", *argv], check=True, capture_output=True, timeout=60, cwd=folder)


def issue(api, folder, foreign):
    """(certificate file, key file): a leaf of our authority, or of another one of the same name."""
    os.makedirs(folder, exist_ok=True)
    if foreign:
        openssl(folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=aliquot authority", "-days", "1")
    else:
        data = api.get("secrets", SECRET, NAMESPACE)["data"]
        for key in ("ca.crt", "ca.key"):
            with open(os.path.join(folder, key), "wb") as file:
                file.write(base64.b64decode(data[key]))
    with open(os.path.join(folder, "names"), "w", encoding="ascii") as file:
        file.write("subjectAltName=DNS:%s\n" % NAME)
    openssl(folder, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
            "tls.key", "-out", "tls.csr", "-subj", "/CN=aliquot-agent")
    openssl(folder, "x509", "-req", "-in", "tls.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial",
            "-days", "1", "-extfile", "names", "-out", "tls.crt")
    return os.path.join(folder, "tls.crt"), os.path.join(folder, "tls.key")


class Handler(http.server.BaseHTTPRequestHandler):
    """GET /v1/state."""

    agent = None
    boot = None
    protocol_version = "HTTP/1.1"
    timeout = 30

    def log_message(self, *_):
        """Quiet."""

    def do_GET(self):  # pylint: disable=invalid-name
        agent = self.agent
        if self.boot != agent.boot or agent.node.agent_mute:
            # An agent that was started anew has none of the old connections.
            self.close_connection = True
            return
        found = self.path == "/v1/state"
        data = json.dumps(agent.state() if found else {"error": "there is /v1/state"}).encode()
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Agent:
    """One agent that answers until it is stopped."""

    def __init__(self, kubelet, node, address, folder):
        self.kubelet, self.node, self.folder = kubelet, node, folder
        self.address = address
        self.boot, self.sequence, self.server = None, 0, None
        self.lock = threading.Lock()
        self.stopped = threading.Event()
        threading.Thread(target=self._begin, name="agent-" + node.name, daemon=True).start()

    def _begin(self, foreign=False):
        while not self.stopped.is_set():
            try:
                self._serve(*issue(self.kubelet.api, self.folder, foreign))
                return
            except (ApiError, KeyError, OSError, subprocess.SubprocessError):
                # The controller may not have made its authority yet.
                self.stopped.wait(0.5)

    def _serve(self, certificate, key):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        boot = str(uuid.uuid4())
        handler = type("BoundHandler", (Handler,), {"agent": self, "boot": boot})
        server = http.server.ThreadingHTTPServer(self.address, handler, bind_and_activate=False)
        server.daemon_threads = True
        server.handle_error = lambda *_: None  # whoever does not trust us hangs up
        server.server_bind()
        server.server_activate()
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        with self.lock:
            self.boot, self.sequence, self.server = boot, 0, server
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()

    def _end(self):
        with self.lock:
            server, self.server, self.boot = self.server, None, None
        if server is not None:
            server.shutdown()
            server.server_close()

    def restart(self, foreign):
        self._end()
        self._begin(foreign)

    def stop(self):
        self.stopped.set()
        self._end()

    def state(self):
        with self.lock:
            self.sequence += 1
            sequence = self.sequence
        devices = self.node.devices
        return {"v": 1, "node": self.node.name, "boot": self.boot, "sequence": sequence, "ageMs": 0,
                "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "devices": [{"uuid": item, "healthy": item not in devices.sick,
                             **({"why": devices.sick[item]} if item in devices.sick else {})}
                            for item in devices.uuids],
                "pods": self.kubelet.alive(self.node)}
