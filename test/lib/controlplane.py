"""A real Kubernetes control plane on this machine, without containers.

etcd, kube-apiserver, kube-controller-manager and kube-scheduler (and kwok or the fake kubelet on
wish) run as ordinary processes on loopback. Everything about one plane lies in one folder:
state.json (the commands, pids, ports and tokens), kubeconfigs, logs and etcd's data. Planes do not
share anything, so any number may run at once. `hack/controlplane` is this module for a shell.
"""

import contextlib
import fcntl
import json
import os
import secrets
import shutil
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import binaries  # noqa: E402
import commands  # noqa: E402
import ports  # noqa: E402
import processes  # noqa: E402
from api import Api, ApiError  # noqa: E402
from waiting import Timeout, wait_until  # noqa: E402

__all__ = ["Api", "ApiError", "ControlPlane", "PlaneError", "Timeout", "home", "planes",
           "wait_until"]

# In this order they start; the other way round they stop, so the API server before its etcd.
ORDER = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "kubelet")
SHORT = {"apiserver": "kube-apiserver", "kcm": "kube-controller-manager",
         "scheduler": "kube-scheduler"}
START_TRIES = 5
READY_TIMEOUT_S = 90


class PlaneError(RuntimeError):
    """The control plane could not do what was asked; the message holds the log's end."""


def home():
    """Folder of all planes of this user."""
    given = os.environ.get("ALIQUOT_CONTROLPLANE_HOME")
    return given or os.path.join(tempfile.gettempdir(), "aliquot-controlplane-%d" % os.getuid())


class ControlPlane:
    """One plane, known by its folder. As a context manager it is taken down at the end."""

    def __init__(self, folder):
        self.dir = os.path.abspath(folder)
        self._admin = None

    # Life.

    @classmethod
    def up(cls, with_parent=None, **options):
        """Starts a plane. Options: those of commands.Options, and with_parent, a pid whose death
        takes the plane down."""
        wanted = commands.Options(**options)
        programs = list(binaries.CORE) + (["kwok"] if wanted.kwok else [])
        paths = binaries.find(programs)
        os.makedirs(home(), mode=0o700, exist_ok=True)
        for attempt in range(START_TRIES):
            plane = cls(tempfile.mkdtemp(prefix="plane-", dir=home()))
            try:
                plane._begin(wanted, paths, with_parent)
                return plane
            except PlaneError as error:
                plane.down()
                if "address already in use" not in str(error) or attempt == START_TRIES - 1:
                    raise
            except BaseException:
                plane.down()
                raise
        raise AssertionError("unreachable")

    def _begin(self, options, paths, with_parent):
        numbers = ports.reserve(home(), self.dir, len(commands.PORTS))
        state = {
            "dir": self.dir, "since": time.time(), "parent": with_parent, "components": {},
            "ports": dict(zip(commands.PORTS, numbers)),
            "tokens": {user: secrets.token_hex(16) for user in commands.USERS},
        }
        state["url"] = "https://127.0.0.1:%d" % state["ports"]["kube-apiserver"]
        state["ca"] = os.path.join(self.dir, "apiserver", "apiserver.crt")
        self._save(state)
        if with_parent:
            self._supervise(with_parent)
        commands.write_files(self.dir, state, options)
        for name, argv in commands.argvs(self.dir, state, options, paths).items():
            state["components"][name] = {"argv": argv, "pid": None, "start": None,
                                         "log": os.path.join(self.dir, name + ".log")}
        self._merge(components=state["components"])
        for name in ("etcd", "kube-apiserver"):
            self._launch(name)
            self._await_ready(name)
        rest = [name for name in ORDER[2:] if name in state["components"]]
        for name in rest:
            self._launch(name)
        for name in rest:
            self._await_ready(name)
        if options.service_accounts and not options.only_apiserver:
            self._await("the default service account", lambda: self.admin.find(
                "serviceaccounts", "default", "default"))

    def _supervise(self, parent):
        start = processes.start_time(parent)
        if start is None:
            raise PlaneError("the parent, process %d, is gone already" % parent)
        argv = [sys.executable, os.path.abspath(__file__), "supervise", self.dir, str(parent),
                str(start)]
        self._merge(supervisor=processes.start(argv, os.path.join(self.dir, "supervisor.log")))

    def down(self, keep=False):
        """Stops what was started, in order, and removes the folder unless it is to be kept."""
        state = self._load()
        supervisor = state.get("supervisor")
        if supervisor and supervisor["pid"] != os.getpid():
            processes.stop([supervisor], 5)
        parts = state.get("components", {})
        processes.stop(state.get("adopted", {}).values(), 10)
        processes.stop([parts[name] for name in ORDER[2:] if name in parts], 15)
        for name in ("kube-apiserver", "etcd"):
            processes.stop([parts.get(name)], 10)
        ports.release(home(), state.get("ports", {}).values())
        if not keep:
            shutil.rmtree(self.dir, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.down()

    # Single components, by their name or its short form.

    def start(self, component):
        """Starts a component with the command, and so on the port, it had, and waits for it."""
        name = self._name(component)
        if not processes.alive(self._record(name)):
            self._launch(name)
        self._await_ready(name)

    def stop(self, component, timeout=5.0):
        processes.stop([self._record(self._name(component))], timeout)

    def kill(self, component):
        """SIGKILL, as a crash would be."""
        record = self._record(self._name(component))
        processes.send(record, signal.SIGKILL)
        processes.await_exit([record], 10)

    def restart(self, component, crash=False):
        if crash:
            self.kill(component)
        else:
            self.stop(component)
        self.start(component)

    def pause(self, component):
        """SIGSTOP: alive, but silent."""
        processes.send(self._record(self._name(component)), signal.SIGSTOP)

    def resume(self, component):
        processes.send(self._record(self._name(component)), signal.SIGCONT)

    def alive(self, component):
        return processes.alive(self._record(self._name(component)))

    def pid(self, component):
        return self._record(self._name(component))["pid"]

    def adopt(self, name, record):
        """Has `down` stop a further process, of processes.start, before the plane's own."""
        with self._locked():
            state = self._load()
            state.setdefault("adopted", {})[name] = record
            self._save(state)

    # What a client needs.

    def info(self):
        """What `up` prints: URL, CA, folder, kubeconfigs and tokens by user."""
        state = self._load()
        return {"dir": self.dir, "url": state["url"], "ca": state["ca"],
                "kubeconfig": self.kubeconfig(), "tokens": state["tokens"],
                "kubeconfigs": {user: self.kubeconfig(user) for user in state["tokens"]},
                "ports": state["ports"]}

    def kubeconfig(self, user="admin"):
        return os.path.join(self.dir, user + ".kubeconfig")

    def client(self, user="admin", timeout=30.0):
        """A client with the token of one of commands.USERS."""
        return Api.from_kubeconfig(self.kubeconfig(user), timeout)

    def client_of_token(self, token, timeout=30.0):
        state = self._load()
        return Api(state["url"], state["ca"], token, timeout)

    @property
    def admin(self):
        if self._admin is None:
            self._admin = self.client("admin")
        return self._admin

    @property
    def certificate(self):
        return self._load()["ca"]

    def etcd_url(self):
        return "http://127.0.0.1:%d" % self._load()["ports"]["etcd"]

    def log(self, component, size=3000):
        return processes.log_tail(self._record(self._name(component))["log"], size)

    def status(self):
        state = self._load()
        parts = {name: processes.alive(record)
                 for name, record in state.get("components", {}).items()}
        return {"dir": self.dir, "url": state.get("url"), "parent": state.get("parent"),
                "age_s": int(time.time() - state.get("since", time.time())), "components": parts}

    # The state file.

    @contextlib.contextmanager
    def _locked(self):
        with open(os.path.join(self.dir, "lock"), "a", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _load(self):
        try:
            with open(os.path.join(self.dir, "state.json"), encoding="utf-8") as file:
                return json.load(file)
        except FileNotFoundError:
            return {}

    def _save(self, state):
        path = os.path.join(self.dir, "state.json")
        with open(os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w",
                  encoding="utf-8") as file:
            json.dump(state, file, indent=1)
        os.replace(path + ".new", path)

    def _merge(self, **parts):
        with self._locked():
            state = self._load()
            state.update(parts)
            self._save(state)

    def _record(self, name):
        parts = self._load().get("components", {})
        if name not in parts:
            raise PlaneError("%s has no component %s; it has %s" % (
                self.dir, name, ", ".join(parts) or "none"))
        return parts[name]

    @staticmethod
    def _name(component):
        return SHORT.get(component, component)

    # Starting and waiting.

    def _launch(self, name):
        with self._locked():
            state = self._load()
            record = state["components"][name]
            record.update(processes.start(record["argv"], record["log"]))
            self._save(state)

    def _await_ready(self, name):
        probe = {
            "etcd": self._etcd_ready, "kube-apiserver": self._apiserver_ready,
            "kube-controller-manager": lambda: self._healthy(name, "/healthz"),
            "kube-scheduler": lambda: self._healthy(name, "/readyz"),
            "kubelet": self._kubelet_ready,
        }.get(name)
        if probe:
            self._await(name, probe, name)

    def _await(self, what, probe, name=None):
        deadline = time.monotonic() + READY_TIMEOUT_S
        last = None
        while time.monotonic() < deadline:
            try:
                if probe():
                    return
            except (ApiError, OSError) as error:
                last = error
            if name and not processes.alive(self._record(name)):
                raise PlaneError("%s ended while it was starting:\n%s" % (name, self.log(name)))
            time.sleep(0.05)
        tail = self.log(name) if name else ""
        raise PlaneError("%s was not ready in %d s (%s)\n%s" % (what, READY_TIMEOUT_S, last, tail))

    def _etcd_ready(self):
        api = Api(self.etcd_url(), timeout=2)
        return api.request("GET", "/health").get("health") == "true"

    def _apiserver_ready(self):
        if not os.path.exists(self._load()["ca"]):
            return False
        return self.client(timeout=5).raw("GET", "/readyz")[0] == 200

    def _kubelet_ready(self):
        api = Api("http://127.0.0.1:%d" % self._load()["ports"]["kubelet"], timeout=5)
        return api.raw("GET", "/healthz")[0] == 200

    def _healthy(self, name, path):
        port = self._load()["ports"][name]
        return commands.probe_untrusted(port, path) == 200


def planes():
    """All planes of this user whose folder still exists."""
    try:
        names = sorted(os.listdir(home()))
    except FileNotFoundError:
        return []
    return [ControlPlane(os.path.join(home(), name)) for name in names
            if name.startswith("plane-")]


def _supervise(folder, parent, start):
    """Waits for the parent to die, then takes the plane down; ends when the plane is gone."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    while os.path.isdir(folder):
        if str(processes.start_time(parent)) != start:
            ControlPlane(folder).down(keep=False)
            return
        time.sleep(0.5)


if __name__ == "__main__" and sys.argv[1:2] == ["supervise"]:
    _supervise(sys.argv[2], int(sys.argv[3]), sys.argv[4])
