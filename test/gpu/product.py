"""The product on a real GPU, without a cluster: a capacity pod's program, and an agent between the real driver and a
stand-in for the API server that knows three pods. /proc is real but for the cgroups of our loads, which are said to be
those of the pods."""

import http.server
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
import uuid

from ground import Load

NODE, CPU_TICKS = "gpu-truth", os.sysconf("SC_CLK_TCK")
SMI = {"DCGM_FI_DEV_FB_TOTAL": "memory.total", "DCGM_FI_DEV_FB_RESERVED": "memory.reserved",
       "DCGM_FI_DEV_FB_USED": "memory.used", "DCGM_FI_DEV_FB_FREE": "memory.free",
       "DCGM_FI_DEV_GPU_UTIL": "utilization.gpu", "DCGM_FI_DEV_MEM_COPY_UTIL": "utilization.memory",
       "DCGM_FI_DEV_GPU_TEMP": "temperature.gpu", "DCGM_FI_DEV_MEMORY_TEMP": "temperature.memory",
       "DCGM_FI_DEV_POWER_USAGE": "power.draw.instant", "DCGM_FI_DEV_SM_CLOCK": "clocks.sm",
       "DCGM_FI_DEV_MEM_CLOCK": "clocks.mem"}


def call(*argv, timeout=30):
    """What a program says; in words where there is none, or it fails."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=timeout, check=False, stdin=subprocess.DEVNULL)
    except OSError as error:
        return str(error)
    return done.stdout.strip() if done.returncode == 0 else "status %d: %s" % (done.returncode, done.stderr.strip()[-200:])


def smi(fields):
    """{field: text} of nvidia-smi."""
    values = call("nvidia-smi", "--id=0", "--query-gpu=" + ",".join(fields), "--format=csv,noheader,nounits").split(",")
    return dict(zip(fields, [value.strip() for value in values]))


# --- a capacity pod's program ---


def capacity(ground, verb, *more):
    return [ground.given.aliquot, "capacity", verb, "--nvml-library=" + ground.given.nvml_library, *more]


def identify(ground, folder):
    """(status, the termination message, the end of its log)."""
    message = os.path.join(folder, "message")
    done = subprocess.run(capacity(ground, "identify", "--identity-file=" + os.path.join(folder, "identity"),
                                   "--termination-log=" + message), capture_output=True, text=True, timeout=60, check=False)
    said = ""
    if os.path.exists(message):
        with open(message, encoding="utf-8") as file:
            said = file.read()
    return done.returncode, said, done.stderr.strip().splitlines()[-1:]


def p1(ground):
    """aliquot capacity: what it says which GPU this is, holds, and sees."""
    device = ground.device
    yield "NVML", "%s; %s; memory %s" % (device.describe(), device.uuid(), device.memory())
    yield "return codes and values of what the agent asks", device.figures()
    yield "nvidia-smi", smi(["uuid", "name", "pci.bus_id", "memory.total", "driver_version", "compute_mode", "mig.mode.current"])
    if device.compute_mode() not in (0, None):
        yield "identify", "not tried: the compute mode is not DEFAULT, and it would set that"
        return
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        status, said, log = identify(ground, folder)
        yield "identify", "status %d after %.2f s; %s%s" % (status, time.monotonic() - began, said, "" if status == 0 else log)
        began = time.monotonic()
        yield "probe", "%s; %.2f s" % (call(*capacity(ground, "probe", "--termination-log=" + os.path.join(folder, "sight"))),
                                       time.monotonic() - began)
        if os.path.exists(os.path.join(folder, "sight")):
            with open(os.path.join(folder, "sight"), encoding="utf-8") as file:
                yield "probe's message", file.read()
        hold = subprocess.Popen(capacity(ground, "hold", "--check-seconds=1", "--identity-file=" + os.path.join(
            folder, "identity"), "--termination-log=" + os.path.join(folder, "last")), stderr=subprocess.PIPE, text=True)
        time.sleep(4)
        listed = device.processes("compute")
        usage = "%s MiB, of it private in KiB %s" % (memory_of(hold.pid), largest(hold.pid))
        hold.terminate()
        log = hold.communicate(timeout=30)[1]
        ground.note("hold.log", log)
        yield "hold, a look a second", "status %d; %s; among the GPU's processes: %s; the last line: %s" % (
            hold.returncode, usage, hold.pid in listed if isinstance(listed, dict) else listed, log.strip().splitlines()[-1:])


# --- an agent ---


class Pods(http.server.BaseHTTPRequestHandler):
    """GET /api/v1/pods, as a watch that begins with all there are, or as a list."""

    protocol_version = "HTTP/1.1"
    pods, gone = (), threading.Event()

    def log_message(self, *_):
        """Quiet."""

    def chunk(self, event):
        data = json.dumps(event).encode() + b"\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def do_GET(self):  # pylint: disable=invalid-name
        listed = self.path.startswith("/api/v1/pods")
        watched = listed and ("watch=1" in self.path or "watch=true" in self.path)
        self.send_response(200 if listed else 404)
        self.send_header("Content-Type", "application/json")
        if not watched:
            data = json.dumps({"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"},
                               "items": self.pods if listed else []}).encode()
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if "sendInitialEvents=true" in self.path:
            for pod in self.pods:
                self.chunk({"type": "ADDED", "object": pod})
            self.chunk({"type": "BOOKMARK", "object": {"kind": "Pod", "apiVersion": "v1", "metadata": {
                "resourceVersion": "1", "annotations": {"k8s.io/initial-events-end": "true"}}}})
        self.gone.wait(600)
        self.close_connection = True


def container_id(name):
    return (name.encode().hex() * 64)[:64]


def pod(name, namespace, labels, notes=None, **status):
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": namespace, "uid": str(uuid.uuid5(uuid.NAMESPACE_DNS, name)),
                         "resourceVersion": "1", "labels": labels, "annotations": notes or {}},
            "spec": {"nodeName": NODE, "containers": [{"name": "main"}]},
            "status": {"phase": "Running", "containerStatuses": [
                {"name": "main", "containerID": "containerd://" + container_id(name)}], **status}}


class Agent:
    """An agent with its API server and its view of /proc; leaves with its block."""

    def __init__(self, ground, name, interval, uid=None):
        self.ground, self.name = ground, name
        self.folder = tempfile.mkdtemp(prefix="gpu-truth-agent-")
        os.chmod(self.folder, 0o755)
        self.proc = os.path.join(self.folder, "proc")
        os.makedirs(self.proc)
        self.pods = self.make_pods()
        self.gone = threading.Event()
        handler = type("Bound", (Pods,), {"pods": self.pods, "gone": self.gone})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.1,), daemon=True).start()
        self.process = self.start(interval, uid)

    def make_pods(self):
        held = {"aliquot.dev/gpu-uuid": self.ground.device.uuid()}
        status, said, _ = identify(self.ground, self.folder)
        init = {"initContainerStatuses": [{"name": "identify", "state": {"terminated": {"exitCode": status, "message": said}}}]}
        return [pod("capacity-1", "aliquot-system", {"aliquot.dev/capacity": "true"}, **init),
                pod("one", "default", {"aliquot.dev/tenant": "true"}, {
                    **held, "aliquot.dev/compute-milli": "500", "aliquot.dev/memory-mib": "20000"}),
                pod("two", "default", {"aliquot.dev/tenant": "true"}, {
                    **held, "aliquot.dev/compute-milli": "250", "aliquot.dev/memory-mib": "10000"})]

    def start(self, interval, uid):
        config = os.path.join(self.folder, "kubeconfig")
        with open(config, "w", encoding="utf-8") as file:
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "here",
                       "contexts": [{"name": "here", "context": {"cluster": "here", "user": "agent"}}],
                       "clusters": [{"name": "here", "cluster": {"server": "http://127.0.0.1:%d" % self.server.server_port}}],
                       "users": [{"name": "agent", "user": {"token": "none"}}]}, file)
        as_user = {} if uid is None else {"user": uid, "group": uid, "extra_groups": []}
        self.log = open(os.path.join(self.folder, "agent.log"), "w", encoding="utf-8")
        return subprocess.Popen(
            [self.ground.given.aliquot, "agent", "--node-name=" + NODE, "--listen=127.0.0.1:0", "--proc-root=" + self.proc,
             "--interval-seconds=%d" % interval, "--nvml-library=" + self.ground.given.nvml_library,
             "--kubeconfig=" + config, "--log-level=debug"], stderr=self.log, stdout=self.log, stdin=subprocess.DEVNULL,
            **as_user)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Its exit status after SIGTERM."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(20)
        self.gone.set()
        self.server.shutdown()
        self.server.server_close()
        self.log.close()
        if os.path.isdir(self.folder):
            self.ground.note("agent-%s.log" % self.name, self.text())
            shutil.rmtree(self.folder)
        return self.process.returncode

    def text(self):
        with open(os.path.join(self.folder, "agent.log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def port(self):
        for line in self.text().splitlines():
            found = json.loads(line) if line.startswith("{") else {}
            if found.get("msg") == "serving metrics":
                return found["port"]
        return None

    def get(self, path):
        try:
            with urllib.request.urlopen("http://127.0.0.1:%d%s" % (self.port(), path), timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def wait_ready(self, timeout=30):
        """(seconds, the last answer of /readyz)."""
        began, said = time.monotonic(), (0, "")
        while time.monotonic() - began < timeout and self.process.poll() is None:
            if self.port() is not None:
                said = self.get("/readyz")
                if said[0] == 200:
                    break
            time.sleep(0.05)
        return time.monotonic() - began, said

    def adopt(self, pid, index):
        """This process is one of the pod's container; None: what it is in is true."""
        place = os.path.join(self.proc, str(pid))
        shutil.rmtree(place, ignore_errors=True)
        os.makedirs(place)
        os.symlink("/proc/%d/stat" % pid, os.path.join(place, "stat"))
        if index is None:
            os.symlink("/proc/%d/cgroup" % pid, os.path.join(place, "cgroup"))
            return
        one = self.pods[index]["metadata"]
        with open(os.path.join(place, "cgroup"), "w", encoding="ascii") as file:
            file.write("0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod%s.slice/cri-containerd-%s.scope\n"
                       % (one["uid"].replace("-", "_"), container_id(one["name"])))

    def samples(self):
        """{(metric, pod or ''): value}, over all reasons together; the page is kept."""
        page = self.get("/metrics")[1]
        self.ground.note("metrics-%s.txt" % self.name, "# at %.3f\n%s\n" % (time.time(), page))
        found = {}
        for line in page.splitlines():
            if line and not line.startswith("#"):
                series, value = line.rsplit(" ", 1)
                metric, _, labels = series.partition("{")
                of = labels.split(',pod="')[1].split('"')[0] if ',pod="' in labels else ""
                more = ' source="%s"' % labels.split('source="')[1].split('"')[0] if 'source="' in labels else ""
                if 'reason="' in labels:
                    value = "%g" % (float(found.get((metric, of), 0)) + float(value))
                found[metric, of] = value + more
        return found


def children(pid):
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name, encoding="utf-8", errors="replace") as file:
                    parent = int(file.read().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            if parent == pid:
                found.append(int(name))
    return found


def memory_of(pid):
    """What the kernel says of a process's memory, in MiB."""
    found = {}
    try:
        with open("/proc/%d/status" % pid, encoding="utf-8") as file:
            for line in file:
                key, _, rest = line.partition(":")
                if key in ("RssAnon", "RssFile", "VmHWM", "Threads"):
                    found[key] = int(rest.split()[0]) if key == "Threads" else round(int(rest.split()[0]) / 1024, 1)
    except OSError as error:
        return str(error)
    return found


def largest(pid, count=8):
    """The mappings that have most of a process's private memory, in KiB."""
    found, name = {}, ""
    with open("/proc/%d/smaps" % pid, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if not words[0].endswith(":"):
                name = os.path.basename(words[5]) if len(words) > 5 else "anonymous"
            elif words[0] == "Anonymous:":
                found[name] = found.get(name, 0) + int(words[1])
    return dict(sorted(found.items(), key=lambda one: -one[1])[:count])


def cpu_ms(pid):
    with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / CPU_TICKS


def compare(agent):
    """Each figure of the device that nvidia-smi tells as well."""
    mine, theirs = agent.samples(), smi(list(SMI.values()))
    return {metric[len("DCGM_FI_DEV_"):]: "%s/%s" % (mine.get((metric, ""), "none"), theirs.get(field, "none"))
            for metric, field in SMI.items()}


def others(agent):
    found = agent.samples()
    return {key[0]: value for key, value in sorted(found.items()) if key[1] == "" and key[0] not in SMI and (
        key[0].startswith("DCGM_") or key[0] in ("aliquot_agent_call_errors_total", "aliquot_agent_rows_dropped_total",
                                                 "aliquot_agent_sample_seconds", "aliquot_agent_device_healthy",
                                                 "aliquot_agent_host_pid_missing", "aliquot_agent_list_retries_total"))}


def p2(ground):
    """aliquot agent without loads: ready, and its figures beside nvidia-smi's; as root and as the user of the manifests."""
    ground.note("nvidia-smi-q.txt", call("nvidia-smi", "-q"))
    for name, uid in (("root", None), ("user", ground.given.agent_uid)):
        with Agent(ground, "p2-" + name, 1, uid) as agent:
            seconds, said = agent.wait_ready()
            yield "%s: ready" % name, "after %.2f s: %s" % (seconds, said)
            if said[0] != 200:
                yield "%s: its log" % name, agent.text()[-1500:]
                continue
            time.sleep(2.5)
            yield "%s: agent/nvidia-smi" % name, compare(agent)
            yield "%s: other figures of the device" % name, others(agent)
            yield "%s: its exit status" % name, agent.stop()


def attributed(agent, ground, loads):
    """What the agent says of pods, the device, and nobody; what NVML says of the processes."""
    found = agent.samples()
    used = ground.device.processes("compute")
    text = []
    for metric in ("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_FB_USED"):
        text.append("%s one %s, two %s, device %s" % (metric[len("DCGM_FI_DEV_"):], *[
            found.get((metric, name), "none") for name in ("one", "two", "")]))
    for metric in ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_PROF_SM_ACTIVE", "aliquot_agent_unattributed_processes",
                   "aliquot_agent_unattributed_compute_percent", "aliquot_agent_unattributed_memory_bytes",
                   "aliquot_agent_compute_scaled", "aliquot_agent_host_pid_missing", "aliquot_agent_processes_gone_total"):
        text.append("%s %s" % (metric.replace("aliquot_agent_", "").replace("DCGM_FI_", ""), found.get((metric, ""), "none")))
    text.append("NVML's memory of them: %s" % (
        [used.get(load.pid) for load in loads] if isinstance(used, dict) else used))
    return "; ".join(text)


PAIRS = (("spin 60 %, 4,000 MiB and spin 20 %, 1,000 MiB", ("spin", 60, 100, 300, 4000), ("spin", 20, 73, 300, 1000)),
         ("arithmetic at full speed, 4,000 MiB and spin 30 %, 1,000 MiB", ("work", 300, 4000), ("spin", 30, 73, 300, 1000)))


def pair(ground, agents, begun):
    """Two loads, the first in pod one, the other in pod two; what each agent says once both have looked long enough."""
    name, first, second = begun
    loads = ground.loads(first, second)
    for agent in agents:
        agent.adopt(loads[0].pid, 1)
        agent.adopt(loads[1].pid, 2)
    time.sleep(2 * agents[-1].interval + 2)
    yield name, [load.first.get("event") for load in loads]
    for agent in agents:
        yield "%s; an agent that looks every %d s" % (name, agent.interval), attributed(agent, ground, loads)
    yield "%s; nvidia-smi pmon" % name, call("nvidia-smi", "pmon", "-c", "1", "-s", "um").replace("\n", "; ")
    ground.clear()


def p3(ground):
    """Two loads on the one GPU: what an agent gives to each; what it takes itself, over a minute at its usual interval."""
    every = ground.given.interval
    with Agent(ground, "p3-quick", 1) as quick, Agent(ground, "p3-usual", every, ground.given.agent_uid) as usual:
        quick.interval, usual.interval = 1, every
        yield "ready", [agent.wait_ready() for agent in (quick, usual)]
        at = time.monotonic()
        before = {pid: cpu_ms(pid) for pid in [usual.process.pid, *children(usual.process.pid)]}
        for one in PAIRS:
            yield from pair(ground, (quick, usual), one)
        spent = {pid: cpu_ms(pid) - ms for pid, ms in before.items()}
        yield "processor of the agent and its child, every %d s" % every, "%s ms in %.0f s" % (
            ["%.0f" % ms for ms in spent.values()], time.monotonic() - at)
        for name, agent in (("every %d s" % every, usual), ("every second", quick)):
            yield "memory of the agent, %s" % name, memory_of(agent.process.pid)
            yield "memory of its child, %s" % name, [memory_of(pid) for pid in children(agent.process.pid)]
        yield "exit status", [quick.stop(), usual.stop()]


def p4(ground):
    """What an agent says of the device when a program makes a mistake on it, and when one is killed at work."""
    with Agent(ground, "p4", 1, ground.given.agent_uid) as agent:
        yield "ready", agent.wait_ready()
        for name in ("fault", "kill"):
            if name == "fault":
                said = Load(ground, "fault").finish(30)
            else:
                load = Load(ground, "work", 60)
                time.sleep(1)
                load.kill()
                said = "killed"
            time.sleep(2.5)
            found = agent.samples()
            yield "%s: %s" % (name, said), "XID_ERRORS %s, device_healthy %s, driver_up %s, call_errors %s" % tuple(
                found.get((metric, "")) for metric in ("DCGM_FI_DEV_XID_ERRORS", "aliquot_agent_device_healthy",
                                                       "aliquot_agent_driver_up", "aliquot_agent_call_errors_total"))


def p5(ground):
    """Two clients of MPS, whose server is said to be the capacity pod's: what an agent gives to each."""
    ground.mps_start()
    with Agent(ground, "p5", 1, ground.given.agent_uid) as agent:
        yield "ready", agent.wait_ready()
        loads = ground.loads(("spin", 60, 100, 60, 1000), ("spin", 20, 73, 60, 500))
        agent.adopt(ground.server(), 0)
        agent.adopt(loads[0].pid, 1)
        agent.adopt(loads[1].pid, 2)
        time.sleep(5)
        yield "60 % in a pod that was granted 0.5, 20 % in one of 0.25", attributed(agent, ground, loads)
