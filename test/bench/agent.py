"""Memory and time of the agent on a full node: 8 GPUs, 160 pods that share them, 320 processes.

The driver, /proc, the cgroups and the kubelet are stand-ins, so what NVML itself takes, in time and in memory, is not in the
figures; and the API server is a program that lists the pods and is silent then. The agent looks at the devices every 15 s,
is asked for the node's state every 2 s over TLS, as the controller does, and is scraped every 15 s. What it and its child
take together in private memory (RssAnon) and processor time is measured over the whole run; then come the scrapes
that may leave nothing behind. The kubelet is asked which pod has which GPU in each interval, and names a GPU for every pod,
which is more than a real one would; the relay to it is the agent's neighbour and measured apart.

smoke: --seconds 20 --scrapes 200
"""

import argparse
import contextlib
import http.client
import http.server
import json
import os
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import uuid

import _ground
import _others
import nvml
import ports
import processes

sys.path.insert(0, os.path.join(os.path.dirname(_ground.HERE), "fake"))
import kubelet_host  # noqa: E402
import kubelet_resources  # noqa: E402

ANON_BAR_KIB = 8 * 1024
CPU_BAR_PERCENT = 0.5
GROWTH_BAR_KIB = 64
NODE = "bench"
INTERVAL_S, ASK_S = 15, 2
STATE_TIMEOUT_S = 10
NAME = "aliquot-agent.aliquot-system.svc"


def pod(number, uid, device):
    """A tenant as the API server has it, with the ballast that pods have."""
    ids = [kubelet_host.container_id(uid, name, 0) for name in ("main", "side")]
    env = [{"name": "SETTING_%d" % i, "value": "x" * 40} for i in range(60)]
    containers = [{"name": name, "image": "registry.example/app:1", "env": env} for name in ("main", "side")]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {
                "name": "tenant-%03d" % number, "namespace": "team-%d" % (number % 7), "uid": uid,
                "resourceVersion": str(100 + number), "labels": {"aliquot.dev/tenant": "true", "app": "x%d" % number},
                "annotations": {"aliquot.dev/gpu-uuid": device, "aliquot.dev/compute-milli": "50",
                                "aliquot.dev/memory-mib": "4000", "aliquot.dev/container": "main"}},
            "spec": {"nodeName": NODE, "containers": containers},
            "status": {"phase": "Running", "containerStatuses": [
                {"name": name, "containerID": "containerd://" + one} for name, one in zip(("main", "side"), ids)]}}


class Node:
    """The stand-ins: devices, processes, cgroups and the list of pods."""

    def __init__(self, folder, args):
        self.host = kubelet_host.Host(folder)
        self.topology = os.path.join(folder, "topology")
        self.uuids = [nvml.uuid(NODE, index) for index in range(args.gpus)]
        self.own_uid = str(uuid.uuid4())
        self.host.pod_begins(self.own_uid)
        own = {"apiVersion": "v1", "kind": "Pod", "metadata": {
            "name": "agent", "namespace": "aliquot-system", "uid": self.own_uid, "resourceVersion": "99"}}
        self.pods = [self._pod(number, args) for number in range(args.pods)]
        on = {one: [] for one in self.uuids}
        for number, one in enumerate(self.pods):
            device = self.uuids[number % args.gpus]
            for index, name in enumerate(("main", "side") * args.processes):
                if index < args.processes // args.pods:
                    identity = kubelet_host.container_id(one["metadata"]["uid"], name, 0)
                    on[device].append(self.host.process_begins(one["metadata"]["uid"], identity))
        self.listed = [own] + self.pods
        self.kubelet = kubelet_resources.PodResources(folder, self._given)
        self.count = sum(len(pids) for pids in on.values())
        nvml.write_topology(self.topology, [nvml.device(
            device, index, process=["compute %d %d" % (pid, 300 + pid % 100) for pid in pids],
            use=["%d %d" % (pid, 1 + pid % 3) for pid in pids[::2]], used_mib=400 * len(pids), busy="70 20",
            gpm="70 60 30 20 25 100 200") for index, (device, pids) in enumerate(on.items())])

    def _given(self):
        return [(one["metadata"]["namespace"], one["metadata"]["name"], {
            "main": [one["metadata"]["annotations"]["aliquot.dev/gpu-uuid"]], "side": []}) for one in self.pods]

    def _pod(self, number, args):
        uid = str(uuid.uuid4())
        self.host.pod_begins(uid)
        return pod(number, uid, self.uuids[number % args.gpus])


class Handler(http.server.BaseHTTPRequestHandler):
    """GET of pods: a list, or a watch that says nothing more."""

    pods, ended = (), None
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Quiet."""

    def do_GET(self):  # pylint: disable=invalid-name
        asked = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        if "watch" not in asked:
            self.wfile.write(json.dumps({"kind": "PodList", "metadata": {"resourceVersion": "1000"},
                                         "items": self.pods}).encode())
            return
        events = []
        if "sendInitialEvents" in asked:
            events = [{"type": "ADDED", "object": one} for one in self.pods]
        note = {"k8s.io/initial-events-end": "true"} if events else {}
        mark = {"type": "BOOKMARK", "object": {"kind": "Pod", "metadata": {
            "resourceVersion": "1000", "annotations": note}}}
        for event in events + [mark]:
            self.wfile.write(json.dumps(event).encode() + b"\n")
        self.wfile.flush()
        # A watch sends bookmarks now and then, else it is taken for dead.
        mark["object"]["metadata"]["annotations"] = {}
        with contextlib.suppress(OSError):
            while not self.ended.wait(60):
                self.wfile.write(json.dumps(mark).encode() + b"\n")


def serve(pods):
    """A program that lists pods; (its port, what ends it)."""
    ended = threading.Event()
    handler = type("BoundHandler", (Handler,), {"pods": pods, "ended": ended})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port, ended


def certificate(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", "tls.key", "-out", "tls.crt", "-subj", "/CN=agent", "-days", "2",
                    "-addext", "subjectAltName=DNS:" + NAME], check=True, capture_output=True, cwd=folder, timeout=60)


class Agent:
    """The agent and its child, and doors to both its servers."""

    def __init__(self, args, folder, node, server):
        self.port, self.state_port = ports.reserve(os.path.dirname(folder), folder, 2)
        config = os.path.join(folder, "kubeconfig")
        with open(config, "w", encoding="ascii") as file:
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "c",
                       "contexts": [{"name": "c", "context": {"cluster": "a", "user": "u"}}],
                       "clusters": [{"name": "a", "cluster": {"server": "http://127.0.0.1:%d" % server}}],
                       "users": [{"name": "u", "user": {"token": "t"}}]}, file)
        certificate(folder)
        self.log_path = os.path.join(folder, "agent.log")
        door = os.path.join(folder, "relay.sock")
        self.relay = processes.start([args.binary, "relay", "--listen=" + door, "--to=" + node.kubelet.path],
                                     os.path.join(folder, "relay.log"))
        self.record = processes.start(
            [args.binary, "agent", "--node-name=" + NODE, "--pod-uid=" + node.own_uid,
             "--listen=127.0.0.1:%d" % self.port, "--state-listen=127.0.0.1:%d" % self.state_port,
             "--tls-dir=" + folder, "--nvml-library=" + nvml.library(), "--proc-root=" + node.host.proc,
             "--cgroup-root=" + node.host.cgroup, "--interval-seconds=%d" % INTERVAL_S, "--kubeconfig=" + config,
             "--kubelet-socket=" + door],
            self.log_path, env=dict(os.environ, FAKE_NVML_TOPOLOGY=node.topology, KUBECONFIG=""))
        self.pid = self.record["pid"]
        self.reconnects = 0
        self.pages = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        # Whom it shows itself to is the controller's business.
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self.states = http.client.HTTPSConnection("127.0.0.1", self.state_port, timeout=10, context=context)

    def ask(self, door, path):
        """(status, body) over a kept connection, or a new one where a machine that stood still let it grow old."""
        try:
            door.request("GET", path)
            answer = door.getresponse()
        except http.client.RemoteDisconnected:
            if not processes.alive(self.record):
                raise
            self.reconnects += 1
            door.request("GET", path)
            answer = door.getresponse()
        return answer.status, answer.read()

    def ready(self):
        try:
            return self.ask(self.pages, "/readyz")[0] == 200
        except (OSError, http.client.HTTPException):
            self.pages.close()
            return False

    def family(self):
        """It and its children."""
        with open("/proc/%d/task/%d/children" % (self.pid, self.pid), encoding="ascii") as file:
            return [self.pid] + [int(word) for word in file.read().split()]

    def relay_kib(self):
        """The relay's private memory."""
        return self.memory([self.relay["pid"]])["RssAnon"]

    def memory(self, pids=None):
        """{key: KiB} of all of them together."""
        sums = {"RssAnon": 0, "VmRSS": 0}
        for pid in pids or self.family():
            with open("/proc/%d/status" % pid, encoding="ascii") as file:
                for line in file:
                    key, _, rest = line.partition(":")
                    if key in sums:
                        sums[key] += int(rest.split()[0])
        return sums

    def cpu_s(self):
        """Of all of them together, those that ended included."""
        total = 0.0
        for pid in self.family():
            with open("/proc/%d/schedstat" % pid, encoding="ascii") as file:
                total += int(file.read().split()[0]) / 1e9
        return total

    def stop_relay(self):
        processes.send(self.relay, signal.SIGKILL)
        processes.await_exit([self.relay], 5)

    def end(self):
        """SIGTERM; how long it took, and the exit status."""
        began = time.monotonic()
        processes.send(self.record, signal.SIGTERM)
        if not processes.await_exit([self.record], 15):
            processes.send(self.record, signal.SIGKILL)
            raise RuntimeError("it did not end within 15 s of SIGTERM")
        self.stop_relay()
        return round(time.monotonic() - began, 2)


def check(node, agent):
    """What it tells must be right, or its figures are of something else."""
    answers = []

    def answered():
        answers.append(agent.ask(agent.states, "/v1/state"))
        return answers[-1][0] != 503
    # A look for the state is made when somebody asks, so whoever comes after a pause asks once more.
    with contextlib.suppress(RuntimeError):
        _ground.wait(answered, STATE_TIMEOUT_S, "a state")
    status, body = answers[-1]
    state = json.loads(body) if status == 200 else {}
    if status != 200 or len(state["pods"]) != len(node.pods) or len(state["devices"]) != len(node.uuids) or \
            sum(one["processes"] for one in state["pods"]) != node.count:
        raise RuntimeError("its state is wrong: %d, %d devices, %d pods, %d processes: %s" % (
            status, len(state.get("devices", ())), len(state.get("pods", ())),
            sum(one["processes"] for one in state.get("pods", ())), body[-300:]))
    text = agent.ask(agent.pages, "/metrics")[1].decode()
    found = [line for line in text.splitlines() if line.startswith("DCGM_FI_DEV_FB_USED{") and 'pod="tenant-' in line]
    if len(found) < len(node.pods):
        raise RuntimeError("its metrics lack pods: %d of %d\n%s" % (len(found), len(node.pods), text[:600]))
    if "aliquot_agent_kubelet_up 1\n" not in text:
        raise RuntimeError("it does not hear the kubelet\n%s" % text[-3000:])
    return len(text)


def told(agent):
    """Whether the kubelet has been heard for the first time."""
    return b"aliquot_agent_kubelet_up 1\n" in agent.ask(agent.pages, "/metrics")[1]


def steady(agent, seconds):
    """Looks, questions and scrapes at their pace; (processor time, the most memory of each kind, late answers)."""
    began, cpu = time.monotonic(), agent.cpu_s()
    most, refused, turn = agent.memory(), 0, 0
    first = last = most["RssAnon"]
    while time.monotonic() < began + seconds:
        turn += 1
        wake = began + turn * ASK_S
        time.sleep(max(0.0, wake - time.monotonic()))
        refused += agent.ask(agent.states, "/v1/state")[0] != 200
        if turn * ASK_S % INTERVAL_S < ASK_S:
            agent.ask(agent.pages, "/metrics")
        seen = agent.memory()
        most = {key: max(most[key], seen[key]) for key in most}
        last = seen["RssAnon"]
    took = time.monotonic() - began
    return {"seconds": round(took, 1), "cpu_percent": round((agent.cpu_s() - cpu) * 100 / took, 3),
            "rss_anon_kib": most["RssAnon"], "rss_kib": most["VmRSS"], "rss_anon_first_kib": first,
            "rss_anon_last_kib": last, "asked": turn, "refused": refused, "reconnects": agent.reconnects}


def at_rest(agent):
    """Its private memory while no page is on its way: the least of some moments."""
    found = []
    while len(found) < 10:
        found.append(agent.memory()["RssAnon"])
        time.sleep(0.2)
    return min(found)


def scrapes(agent, count):
    """Growth of its own private memory by so many scrapes, after some to warm up."""
    for _ in range(100):
        agent.ask(agent.pages, "/metrics")
    before = at_rest(agent)
    cpu, began = agent.cpu_s(), time.monotonic()
    for _ in range(count):
        status, _ = agent.ask(agent.pages, "/metrics")
        if status != 200:
            raise RuntimeError("a scrape was answered with %d" % status)
    took, cpu = time.monotonic() - began, agent.cpu_s() - cpu
    return {"count": count, "growth_kib": at_rest(agent) - before, "cpu_ms_each": round(cpu * 1000 / max(count, 1), 2),
            "took_s": round(took, 1)}


def run(args):
    with tempfile.TemporaryDirectory(prefix="aliquot-agent-") as folder:
        node = Node(folder, args)
        port, ended = serve(node.listed)
        agent = Agent(args, folder, node, port)
        try:
            _ground.wait(agent.ready, 60, "the agent to be ready", every=0.2)
            _ground.wait(lambda: told(agent), 30, "the kubelet to be heard", every=0.2)
            page = check(node, agent)
            _ground.say("ready; a page of metrics has %d bytes" % page)
            # Twice at most: each is ten minutes.
            seen, others = _others.undisturbed(lambda: steady(agent, args.seconds), tries=2, told=_ground.say)
            _ground.say("steady: %s" % json.dumps(seen))
            scraped, beside = _others.undisturbed(lambda: scrapes(agent, args.scrapes), tries=1, told=_ground.say)
            _ground.say("scrapes: %s" % json.dumps(scraped))
            check(node, agent)
            seen["relay_rss_anon_kib"], seen["kubelet_asked"] = agent.relay_kib(), node.kubelet.asked
            ending = agent.end()
        except _ground.TROUBLE as error:
            with open(agent.log_path, encoding="utf-8", errors="replace") as file:
                raise RuntimeError("%s\n%s" % (error, file.read()[-1500:])) from error
        finally:
            ended.set()
            processes.send(agent.record, signal.SIGKILL)
            agent.stop_relay()
            node.kubelet.stop()
    return dict(verdict(args, node, page, seen, scraped, ending), **_others.summary([others, beside]))


def verdict(args, node, page, seen, scraped, ending):
    held = {"rss_anon": seen["rss_anon_kib"] <= ANON_BAR_KIB, "cpu": seen["cpu_percent"] <= CPU_BAR_PERCENT,
            "growth": scraped["growth_kib"] <= GROWTH_BAR_KIB, "answers": seen["refused"] == 0}
    return {"name": "agent", "gpus": args.gpus, "pods": len(node.pods), "processes": node.count, "page_bytes": page,
            "steady": seen, "scrapes": scraped, "sigterm_s": ending, "driver": "stand-in",
            "ratio": round(max(seen["rss_anon_kib"] / ANON_BAR_KIB, seen["cpu_percent"] / CPU_BAR_PERCENT), 3),
            "bar": {"rss_anon_kib": ANON_BAR_KIB, "cpu_percent": CPU_BAR_PERCENT, "growth_kib": GROWTH_BAR_KIB},
            "held": held, "holds": all(held.values()), "machine": _ground.machine()}


def main():
    parser = argparse.ArgumentParser(prog="hack/bench agent", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--binary", default=os.environ.get("ALIQUOT_BINARY"), help="aliquot")
    add("--gpus", type=int, default=8)
    add("--pods", type=int, default=160, help="tenants (160)")
    add("--processes", type=int, default=320, help="on GPUs, so many a pod (320)")
    add("--seconds", type=int, default=600, help="how long it is watched (600)")
    add("--scrapes", type=int, default=10000, help="that must leave nothing behind (10000)")
    add("--limit", type=int, default=3000, help="seconds after which it is given up (3000)")
    args = parser.parse_args()
    _ground.guard(args.limit)
    try:
        return _ground.finish(run(args))
    except _ground.TROUBLE as error:
        return _ground.fail("agent", error)


if __name__ == "__main__":
    sys.exit(main())
