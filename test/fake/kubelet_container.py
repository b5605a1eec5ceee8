"""One container of a pod: what it is told, what it runs or plays, and its status."""

import os
import shlex
import time

import kubelet_env
import kubelet_host
import kubelet_volumes
import mps

MESSAGE_MAX = 4096
ANNOTATION = "fake.kubelet/"
PASSED_ON = ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "LLVM_PROFILE_FILE")


def stamp():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Container:
    """Waiting, running or terminated; its pod's thread alone changes it."""

    def __init__(self, uid, spec, init):
        self.uid, self.spec = uid, spec
        self.name = spec["name"]
        self.init = init
        self.sidecar = init and spec.get("restartPolicy") == "Always"
        self.state = {"waiting": {"reason": "PodInitializing" if not init else "Waiting"}}
        self.last = {}
        self.restarts = 0
        self.process = None
        self.env = {}
        self.argv = []  # as its runtime gets them, without the image's entrypoint
        self.visible = []
        self.ends_at = self.ready_at = None
        self.exit_code = 0
        self.not_before = 0.0
        self.backoff = 0.0
        self.began = 0.0
        self.killed = False
        self.pid = self.identity = None  # of its process, while it runs

    running = property(lambda self: "running" in self.state)
    ended = property(lambda self: "terminated" in self.state)

    @property
    def code(self):
        return self.state["terminated"]["exitCode"]

    @property
    def ready(self):
        if self.init and not self.sidecar:
            return self.ended and self.code == 0
        return self.running and self.ready_at is not None and time.monotonic() >= self.ready_at

    def adopt(self, known, pod, played):
        """Goes on from a status that an earlier kubelet wrote; its processes died with it."""
        state = known.get("state") or {}
        self.restarts = known.get("restartCount", 0)
        self.last = known.get("lastState") or {}
        if "terminated" in state:
            self.state = state
        elif "running" in state and played:
            self.play(pod)
            self.state = state
        elif "running" in state:
            self.last = {"terminated": {"exitCode": 137, "reason": "ContainerStatusUnknown",
                                        "startedAt": state["running"].get("startedAt"),
                                        "finishedAt": stamp()}}

    def status(self):
        spec = self.spec
        return {"name": self.name, "image": spec["image"], "imageID": "fake://" + spec["image"],
                "ready": self.ready, "started": self.running, "restartCount": self.restarts,
                "containerID": "fake://" + kubelet_host.container_id(self.uid, self.name, self.restarts),
                "state": self.state, "lastState": self.last}

    def wait_with(self, reason, message=""):
        if self.ended:
            self.last = self.state
        self.state = {"waiting": {"reason": reason, "message": message}}

    # Playing.

    def behaviour(self, pod, key):
        """An annotation fake.kubelet/CONTAINER.KEY, or fake.kubelet/KEY for main containers."""
        notes = pod["metadata"].get("annotations") or {}
        own = notes.get("%s%s.%s" % (ANNOTATION, self.name, key))
        if own is not None or self.init:
            return own
        return notes.get(ANNOTATION + key)

    def play(self, pod):
        """Running without a process, for as long as the annotations say."""
        now = time.monotonic()
        after = self.behaviour(pod, "exit-after-ms")
        code = self.behaviour(pod, "exit-code")
        if after is None and (code is not None or (self.init and not self.sidecar)):
            after = "0"
        self.ends_at = None if after is None else now + int(after) / 1000
        self.exit_code = int(code or 0)
        late = int(self.behaviour(pod, "ready-after-ms") or 0) / 1000
        self.ready_at = None if self.behaviour(pod, "never-ready") == "true" else now + late
        self.set_running()

    def set_running(self):
        self.began = time.monotonic()
        self.killed = False
        if self.ended:
            self.last = self.state
        self.state = {"running": {"startedAt": stamp()}}

    def end(self, code, message):
        """The process ended, or what was played did."""
        started = self.state.get("running", {}).get("startedAt", stamp())
        reason = "Completed" if code == 0 else "Error"
        self.process = None
        self.ends_at = self.ready_at = None
        self.state = {"terminated": {"exitCode": code, "reason": reason, "startedAt": started,
                                     "finishedAt": stamp(), "message": message}}


class Launcher:
    """Turns a container of the stored pod into a process or a play, on one node."""

    def __init__(self, kubelet, node):
        self.kubelet = kubelet
        self.node = node

    def launch(self, pod, container, volumes, status, share, on_exit):
        """Starts CONTAINER of POD, which was read just now. Raises ConfigError."""
        folder = volumes.folder
        termination = os.path.join(folder, container.name + ".termination")
        with open(termination, "wb"):
            pass
        env = self._env(pod, container, status, share)
        container.env = env
        container.argv = self._words(container.spec, env)
        # The device plugin has ways of its own, whatever the runtime makes of names.
        container.visible = self.node.devices.given(share)[1] if share else self.node.devices.visible(
            self.node.runtime.names(pod, container.name, env.get("NVIDIA_VISIBLE_DEVICES")))
        if self.plays(container.spec):
            container.play(pod)
            return
        pairs = volumes.rewrites(container.spec, env, termination)
        argv = [kubelet_volumes.rewrite(word, pairs) for word in self._argv(container.spec, env)]
        env = {key: kubelet_volumes.rewrite(value, pairs) for key, value in env.items()}
        env["FAKE_NVML_TOPOLOGY"] = self.node.devices.topology
        env["FAKE_NVML_GIVEN"] = ",".join(container.visible)
        if self.kubelet.nvml:
            env["LD_LIBRARY_PATH"] = os.path.dirname(self.kubelet.nvml)
        # As the container toolkit brings the driver's programs along.
        env["PATH"] = "%s:%s" % (os.path.dirname(self.kubelet.mps), env["PATH"])
        env.update(mps.FakeMps(os.path.dirname(self.node.devices.topology)).env)
        log = os.path.join(folder, container.name + ".log")
        container.process = self.kubelet.runner.start(argv, env, folder, log, on_exit)
        container.ready_at = time.monotonic()
        container.set_running()

    def _env(self, pod, container, status, share):
        server = self.kubelet.server
        base = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                "HOME": "/", "HOSTNAME": pod["metadata"]["name"],
                "KUBERNETES_SERVICE_HOST": server[0], "KUBERNETES_SERVICE_PORT": str(server[1])}
        base.update({key: os.environ[key] for key in PASSED_ON if key in os.environ})
        env = kubelet_env.resolve(self.kubelet.api, pod, container.spec, status, base)
        if share:
            # The device plugin's answer comes last and wins.
            env["NVIDIA_VISIBLE_DEVICES"] = self.node.devices.given(share)[0]
        else:
            env.setdefault("NVIDIA_VISIBLE_DEVICES", self._baked(pod))
        return env

    @staticmethod
    def _baked(pod):
        """What the image sets by itself: a CUDA image says all, ours says nothing."""
        notes = pod["metadata"].get("annotations") or {}
        return notes.get(ANNOTATION + "image-visible-devices", "void")

    @staticmethod
    def _image_name(spec):
        return spec["image"].rsplit("/", 1)[-1].split("@")[0].split(":")[0]

    def _program(self, spec):
        name = self._image_name(spec)
        if name in self.kubelet.images:
            return self.kubelet.images[name]
        return self.kubelet.binary if name.startswith("aliquot") else ""

    def plays(self, spec):
        """Whether the image has no program here and is only played."""
        return not self._program(spec)

    @staticmethod
    def _words(spec, env):
        return [kubelet_env.expand(word, env)
                for word in (spec.get("command") or []) + (spec.get("args") or [])]

    def _argv(self, spec, env):
        words = self._words(spec, env)
        program = self._program(spec)
        if program == "command":
            return words
        # The image's entrypoint: a command names it again, arguments alone do not.
        if words and os.path.basename(words[0]) == self._image_name(spec).split("-")[0]:
            words = words[1:]
        return shlex.split(program) + words

    def message(self, container, folder, code):
        """The termination message: the file's beginning, or the log's end where that is asked."""
        path = os.path.join(folder, container.name + ".termination")
        try:
            with open(path, "rb") as file:
                data = file.read(MESSAGE_MAX)
        except OSError:
            data = b""
        policy = container.spec.get("terminationMessagePolicy")
        if not data and code != 0 and policy == "FallbackToLogsOnError":
            data = self._log_end(os.path.join(folder, container.name + ".log"))
        return data.decode("utf-8", "replace")

    @staticmethod
    def _log_end(path):
        try:
            with open(path, "rb") as file:
                file.seek(max(0, os.path.getsize(path) - 2048))
                return b"\n".join(file.read().split(b"\n")[-80:])
        except OSError:
            return b""
