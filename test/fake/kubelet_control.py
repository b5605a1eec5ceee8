"""The fake kubelet's door for tests: its state, and faults on demand, over HTTP on loopback."""

import http.server
import json
import threading

import fleet
from api import ApiError


class Faults:
    """Each method is a fault's name with - for _; arguments come from the request's JSON."""

    def __init__(self, kubelet):
        self.kubelet = kubelet

    def reject_admission(self, node, count=1):
        """The next COUNT pods with devices are refused: UnexpectedAdmissionError."""
        self.kubelet.nodes[node].devices.rejections = int(count)

    def no_identity(self, node, on=True):
        """NVML hangs on the node, so that a capacity pod never tells its UUID."""
        rules = ["delay-ms nvmlInit_v2 3600000", "delay-ms nvmlInitWithFlags 3600000"]
        self.kubelet.nodes[node].devices.change(rules=rules if on else [])

    def no_image(self, node, on=True):
        """Images cannot be pulled there."""
        self.kubelet.nodes[node].pulls = not on

    def nvml(self, node, rules=None, index=None, **keys):
        """The topology's own words: rules of the node, or keys of one device (README)."""
        self.kubelet.nodes[node].devices.change(index=index, rules=rules, **keys)

    def duplicate_uuid(self, node, index, of_node=None, of_index=0):
        """Device INDEX of NODE reports the UUID of another device."""
        other = self.kubelet.nodes[of_node or node].devices.uuids[int(of_index)]
        self.kubelet.nodes[node].devices.change(index=int(index), report_uuid=other)

    def unhealthy(self, node, index, on=True):
        """The device plugin withdraws a device: no new pod gets it, allocatable falls."""
        devices = self.kubelet.nodes[node].devices
        uuid = devices.uuids[int(index)]
        (devices.unhealthy.add if on else devices.unhealthy.discard)(uuid)
        count = str(len(devices.uuids) - len(devices.unhealthy))
        self.kubelet.api.patch("nodes", node, {"status": {
            "allocatable": {"nvidia.com/gpu": count}}}, sub="status")

    def device_plugin(self, node, says=None, shows="own"):
        """It sets the variable to SAYS instead of UUIDs (void, as with CDI), and shows a container its own, all, or none."""
        if shows not in ("own", "all", "none"):
            raise ValueError("shows: own, all or none")
        devices = self.kubelet.nodes[node].devices
        devices.says, devices.shows = says, shows

    def kill(self, namespace, pod, container, code=-9, message=""):
        """A container dies now: by signal -CODE, or, where only played, exiting with CODE and that message."""
        worker = self.kubelet.find(namespace, pod)
        if worker is None:
            raise KeyError("%s/%s" % (namespace, pod))
        worker.kill(container, int(code), message)

    def use(self, namespace, pod, container="main", mib=0, sm=0, index=0):
        """A container's process has so much memory on a device that it sees, and works so hard; MIB null: it left."""
        worker = self.kubelet.find(namespace, pod)
        if worker is None:
            raise KeyError("%s/%s" % (namespace, pod))
        worker.use(container, mib, sm, index)

    def injection(self, node, forms, besides=(), version=None):
        """Which forms of injection its container runtime honours from now on, and what it gives to everybody BESIDES;
        VERSION: what it calls itself then."""
        self.kubelet.nodes[node].runtime.set(forms, besides)
        if version is not None:
            self.kubelet.api.patch("nodes", node, {"status": {"nodeInfo": {
                "containerRuntimeVersion": version}}}, sub="status", kind="strategic")

    def slow_start(self, node, ms):
        """Pods that come from now on start this much later."""
        self.kubelet.nodes[node].slow_start_s = int(ms) / 1000

    def free_delay(self, node, ms):
        """How late a device comes back."""
        self.kubelet.nodes[node].devices.delay(int(ms) / 1000)

    def xid(self, node, index, code=79, on=True):
        """A device is not healthy any more: its agent says so."""
        devices = self.kubelet.nodes[node].devices
        uuid = devices.uuids[int(index)]
        devices.sick = {**devices.sick, uuid: "XID %d" % code} if on else {
            other: why for other, why in devices.sick.items() if other != uuid}

    def agent_mute(self, node, on=True):
        """The node's agent hangs up instead of answering."""
        self.kubelet.nodes[node].agent_mute = bool(on)

    def agent_foreign(self, node, on=True):
        """The node's agent is started anew with the certificate of an authority that is not ours."""
        self.kubelet.nodes[node].agent.restart(bool(on))

    def resources(self, node, mood="well"):
        """What the node's PodResources API does from now on: well, hang, garbage, nonsense, large, deny or away."""
        self.kubelet.nodes[node].resources.be(mood)

    def linger(self, node, on=True):
        """What runs in a pod that was deleted by force runs on."""
        self.kubelet.nodes[node].lingers = bool(on)
        self._poke()

    def hang(self, node, on=True):
        """The node's container runtime ends nothing any more, whoever asks."""
        self.kubelet.nodes[node].hangs = bool(on)
        self._poke()

    def _poke(self):
        with self.kubelet.lock:
            workers = list(self.kubelet.workers.values())
        for worker in workers:
            worker.poke()

    def silent(self, node, on=True):
        """The node's heartbeats stop, or go on; its Ready condition says so at once."""
        self.kubelet.nodes[node].silent = bool(on)
        fleet.set_ready(self.kubelet.api, node, "Unknown" if on else "True")


class Handler(http.server.BaseHTTPRequestHandler):
    """GET /healthz, GET /state, POST /faults/NAME."""

    kubelet = None
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Quiet: the tests' own logs say enough."""

    def do_GET(self):  # pylint: disable=invalid-name
        if self.path == "/healthz":
            self._answer(200 if self.kubelet.synced.is_set() else 503, {})
        elif self.path == "/state":
            self._answer(200, self.kubelet.state())
        else:
            self._answer(404, {"error": "there is /healthz, /state and POST /faults/NAME"})

    def do_POST(self):  # pylint: disable=invalid-name
        length = min(int(self.headers.get("Content-Length") or 0), 1 << 20)
        body = json.loads(self.rfile.read(length) or b"{}")
        name = self.path.rpartition("/")[2].replace("-", "_")
        fault = getattr(Faults(self.kubelet), name, None) if not name.startswith("_") else None
        if not self.path.startswith("/faults/") or not callable(fault):
            self._answer(404, {"error": "no fault is called %s" % name})
            return
        try:
            fault(**body)
            self._answer(200, {})
        except (KeyError, TypeError, ValueError, IndexError, ApiError) as error:
            self._answer(400, {"error": "%s: %r" % (name, error)})

    def _answer(self, code, value):
        data = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def serve(kubelet, port):
    """Serves in a thread of its own; returns the port."""
    handler = type("BoundHandler", (Handler,), {"kubelet": kubelet})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, name="control", daemon=True).start()
    return server.server_port
