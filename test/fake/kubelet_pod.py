"""One pod on a fake node: its containers in order, its status, its end. One thread a pod."""

import os
import signal
import sys
import threading
import time
import traceback

import kubelet_agent
import kubelet_devices
import kubelet_env
import kubelet_host
import kubelet_resources
import kubelet_volumes
from api import ApiError
from kubelet_container import Container, Launcher, stamp

BACKOFF_MAX_S = 300.0
FORCED_GRACE_S = 2.0


class PodWorker(threading.Thread):
    """Plays one pod from the moment it is bound until its object is gone."""

    def __init__(self, kubelet, node, pod, ip):
        super().__init__(name="pod-" + pod["metadata"]["name"], daemon=True)
        self.kubelet, self.node, self.pod = kubelet, node, pod
        self.uid = pod["metadata"]["uid"]
        self.namespace, self.pod_name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        self.known = pod.get("status") or {}
        self.ip = self.known.get("podIP") or ("127.0.0.1" if pod["spec"].get("hostNetwork") else ip)
        self.inits = [Container(self.uid, c, True) for c in pod["spec"].get("initContainers") or []]
        self.mains = [Container(self.uid, c, False) for c in pod["spec"]["containers"]]
        self.folder = os.path.join(node.folder, "pods", self.uid)
        self.launcher = Launcher(kubelet, node)
        self.volumes = None
        self.share = {}
        self.started = self.known.get("startTime") or stamp()
        self.phase, self.reason, self.message = "Pending", "", ""
        self.cond = threading.Condition()
        self.exits, self.kills = [], []
        self.deleting = self.gone = self.retired = self.news = False
        self.stop_at = None
        self.grace_s = 0
        self.published = None
        self.devices_held = False
        self.not_before = time.monotonic() + node.slow_start_s
        self.changed_at = {}
        self.agent = None

    # Called from other threads.

    def observe(self, pod):
        with self.cond:
            self.pod = pod
            self.deleting = self.deleting or bool(pod["metadata"].get("deletionTimestamp"))
            self._wake()

    def vanish(self):
        """The object is gone: whatever still runs is ended without asking anybody."""
        with self.cond:
            self.gone = True
            self._wake()

    def kill(self, name, code, message):
        """The container dies now, with this exit code or by this signal where it is negative."""
        with self.cond:
            self.kills.append((name, code, message))
            self._wake()

    def running(self):
        """How many of its containers run."""
        return sum(container.running for container in self.inits + self.mains)

    def over(self):
        """Nothing of it runs, and nothing will."""
        return self.phase in ("Succeeded", "Failed") and not self.running()

    def use(self, name, mib, sm, index=0):
        """The container's process has so much on the device that it sees at INDEX; nothing where MIB is None."""
        container = next(c for c in self.inits + self.mains if c.name == name)
        if container.pid is None:
            raise KeyError("%s does not run" % name)
        if mib is None:
            self.node.devices.unload(container.pid)
        else:
            self.node.devices.load(container.pid, container.visible[int(index)], int(mib), int(sm))

    def remount(self):
        """Secrets reach a container that runs a while after they changed."""
        volumes = self.volumes
        if volumes is not None and any(c.process for c in self.mains):
            volumes.refresh()

    def poke(self):
        """Something that it waits for may have changed."""
        with self.cond:
            self._wake()

    def retire(self):
        """The kubelet stops; the pod's status stays as it is."""
        with self.cond:
            self.retired = True
            self._wake()

    def _on_exit(self, container, process_code):
        with self.cond:
            self.exits.append((container, process_code))
            self._wake()

    def _wake(self):
        self.news = True
        self.cond.notify()

    # The thread.

    def run(self):
        try:
            while not self._turn():
                with self.cond:
                    if not self.news:
                        self.cond.wait(self._sleep_s())
        except Exception:  # pylint: disable=broad-except
            traceback.print_exc(file=sys.stderr)
            self.kubelet.errors.append(traceback.format_exc())
        finally:
            if self.agent is not None:
                self.agent.stop()
            if not self.retired:
                self._show_processes(over=True)
            self.kubelet.forget(self)

    def admit(self):
        """Takes the devices, before the thread starts, so that pods are admitted in order."""
        self.deleting = bool(self.pod["metadata"].get("deletionTimestamp"))
        if self.known.get("phase") in ("Succeeded", "Failed"):
            self.phase = self.known["phase"]
            self.node.devices.release(self.uid)
            return
        try:
            self.share = self.node.devices.admit(self.pod)
            self.devices_held = True
        except kubelet_devices.AdmissionError as error:
            self.phase, self.reason = "Failed", "UnexpectedAdmissionError"
            self.message = str(error)
            return
        os.makedirs(self.folder, exist_ok=True)
        self.node.host.pod_begins(self.uid)
        self.volumes = kubelet_volumes.Volumes(self.kubelet.api, self.pod, self.folder,
                                               self.node.folder, self._addresses())
        if kubelet_volumes.mounts(self.pod, kubelet_resources.PATH):
            self.node.open_resources(lambda: self.kubelet.resources_of(self.node))
        self._adopt()

    def _adopt(self):
        """A pod that ran under an earlier kubelet keeps its counts; processes start anew."""
        before = {item["name"]: item for kind in ("initContainerStatuses", "containerStatuses")
                  for item in self.known.get(kind) or []}
        for container in self.inits + self.mains:
            known = before.get(container.name)
            if known is None:
                continue
            container.adopt(known, self.pod, self.launcher.plays(container.spec))

    def _turn(self):
        """One look at everything; True when this pod needs us no more."""
        with self.cond:
            self.news = False
            exits, self.exits = self.exits, []
            kills, self.kills = self.kills, []
            pod, deleting, gone = self.pod, self.deleting, self.gone
            retired = self.retired
        if retired:
            return True
        if self.volumes is not None and not (deleting or gone):
            self.volumes.tell(pod)
        for container, code in exits:
            self._ended(container, code)
        for death in kills:
            self._die(*death)
        self._end_plays()
        if deleting or gone:
            return self._stopping(pod, gone)
        if self.phase not in ("Succeeded", "Failed"):
            self._advance()
        self._publish()
        return False

    def _sleep_s(self):
        now = time.monotonic()
        due = [c.ends_at for c in self.inits + self.mains if c.ends_at is not None]
        due += [c.not_before for c in self.inits + self.mains if c.not_before > now]
        due += [c.ready_at for c in self.inits + self.mains if (c.ready_at or 0) > now]
        due += [t for t in (self.stop_at, self.not_before) if t is not None and t > now]
        if self._status() != self.published:
            due.append(now + 0.3)
        return max(0.01, min(due) - now) if due else None

    # Containers.

    def _advance(self):
        """Starts what may start now, and gives the pod its phase."""
        if time.monotonic() < self.not_before:
            return
        for container in self.inits:
            if container.sidecar and container.running:
                continue
            if container.ended and container.code == 0 and not container.sidecar:
                continue
            if container.ended and self._policy(container) == "Never":
                self.phase = "Failed"
                self._release()
                return
            self._start(container)
            if not (container.sidecar and container.running):
                return
        for container in self.mains:
            if not container.running and self._restartable(container):
                self._start(container)
        self._settle_phase()

    def _policy(self, container):
        if container.sidecar:
            return "Always"
        policy = self.pod["spec"].get("restartPolicy", "Always")
        return "OnFailure" if container.init and policy == "Always" else policy

    def _restartable(self, container):
        if not container.ended:
            return True
        policy = self._policy(container)
        return policy == "Always" or (policy == "OnFailure" and container.code != 0)

    def _show_processes(self, over=False):
        """What the node's kernel shows of it: a process a container that runs, a cgroup until it is over."""
        for container in self.inits + self.mains:
            identity = kubelet_host.container_id(self.uid, container.name, container.restarts)
            if container.pid is not None and (over or not container.running or container.identity != identity):
                self.node.devices.unload(container.pid)
                self.node.host.process_ends(self.uid, container.identity, container.pid)
                container.pid = container.identity = None
            if container.pid is None and container.running and not over:
                container.identity = identity
                container.pid = self.node.host.process_begins(self.uid, identity)
        if over or self.over():
            self.node.host.pod_ends(self.uid)

    def _settle_phase(self):
        if all(c.ended and not self._restartable(c) for c in self.mains):
            self.phase = "Failed" if any(c.code for c in self.mains) else "Succeeded"
            for container in self.inits:
                if container.running:
                    self._stop(container, signal.SIGTERM)
            self._release()
        elif any(c.running or c.ended or c.restarts for c in self.mains):
            self.phase = "Running"
            port = kubelet_agent.port_of(self.pod)
            if port is not None and self.agent is None and self._is_played():
                self.agent = self.node.agent = kubelet_agent.Agent(
                    self.kubelet, self.node, (self.ip, port), os.path.join(self.folder, "agent"))

    def _is_played(self):
        return all(self.launcher.plays(container.spec) for container in self.mains)

    def _start(self, container):
        """Starts a container unless it runs or has to wait; the stored pod says what it is told."""
        now = time.monotonic()
        if container.running or now < container.not_before:
            return
        if not self.node.pulls:
            container.wait_with("ImagePullBackOff", 'Back-off pulling image "%s"' % container.spec["image"])
            container.not_before = now + 1.0
            return
        if container.ended:
            self._back_off(container)
            if time.monotonic() < container.not_before:
                return
        try:
            stored = self.kubelet.api.get("pods", self.pod_name, self.namespace)
            if stored["metadata"]["uid"] != self.uid:
                return
            self.volumes.pod = stored
            if not self.launcher.plays(container.spec):
                self.volumes.prepare()
            again = "terminated" in container.last
            share = self.share.get(container.name) or []
            self.launcher.launch(stored, container, self.volumes, self._addresses(), share,
                                 lambda code: self._on_exit(container, code))
            container.restarts += 1 if again else 0
        except kubelet_env.ConfigError as error:
            container.wait_with("CreateContainerConfigError", str(error))
            container.not_before = now + 1.0
        except (ApiError, OSError) as error:
            missing = isinstance(error, ApiError) and error.status == 404
            if not missing:
                container.wait_with("RunContainerError", str(error))
            container.not_before = now + (5.0 if missing else 0.5)

    def _back_off(self, container):
        """The longer a container fails, the longer it waits; ten quiet minutes forgive it."""
        base = self.kubelet.backoff_s
        quiet = time.monotonic() - container.began > 600
        container.backoff = base if quiet or not container.backoff else min(
            container.backoff * 2, BACKOFF_MAX_S)
        first = container.restarts == 0
        container.not_before = time.monotonic() + (0 if first else container.backoff)
        container.wait_with("CrashLoopBackOff", "back-off %gs restarting failed container=%s" % (
            container.backoff, container.name))

    def _ended(self, container, code):
        # SIGTERM's own death is 143, as with any runtime.
        container.end(code, self.launcher.message(container, self.folder, code))

    def _end_plays(self):
        for container in self.inits + self.mains:
            if container.running and container.ends_at is not None and \
                    time.monotonic() >= container.ends_at:
                text = container.behaviour(self.pod, "termination-message") or ""
                container.end(container.exit_code, text[:4096])

    def _die(self, name, code, message):
        for container in self.inits + self.mains:
            if container.name != name or not container.running:
                continue
            if container.process:
                container.process.signal(signal.SIGKILL if code >= 0 else -code)
            else:
                container.end(code if code >= 0 else 128 - code, message[:4096])

    def _stop(self, container, number):
        if container.process:
            container.process.signal(number)
        elif number == signal.SIGKILL or container.behaviour(self.pod, "ignore-term") != "true":
            container.end(137 if number == signal.SIGKILL else 143, "")

    # The end.

    def _stopping(self, pod, gone):
        """Asks to end, then insists; the object goes when nothing runs any more."""
        now = time.monotonic()
        running = [c for c in self.inits + self.mains if c.running]
        # By force the object may be seen to go before it is gone.
        forced = gone or pod["metadata"].get("deletionGracePeriodSeconds") == 0
        if running and (self.node.hangs or (forced and self.node.lingers)):
            return False
        if self.stop_at is None:
            self.grace_s = pod["metadata"].get("deletionGracePeriodSeconds", 30)
            self.stop_at = now + (FORCED_GRACE_S if gone else self.grace_s)
            for container in running:
                self._stop(container, signal.SIGTERM)
        elif pod["metadata"].get("deletionGracePeriodSeconds", 30) < self.grace_s:
            # A second deletion makes it shorter; containerd has sent its SIGTERM and sends no other.
            self.grace_s = pod["metadata"]["deletionGracePeriodSeconds"]
            self.stop_at = min(self.stop_at, now + self.grace_s)
        elif gone and self.stop_at > now + FORCED_GRACE_S:
            self.stop_at = now + FORCED_GRACE_S
        elif now >= self.stop_at:
            for container in running:
                if not container.killed:
                    container.killed = True
                    self._stop(container, signal.SIGKILL)
        if any(c.running for c in running):
            # Only an exit or the deadline brings news.
            self.stop_at = self.stop_at if now < self.stop_at else now + 1.0
            if not gone:
                self._publish()
            return False
        return self._remove(gone)

    def _remove(self, gone):
        if not gone:
            if self.phase not in ("Succeeded", "Failed"):
                good = all(c.ended and c.code == 0 for c in self.mains)
                self.phase = "Succeeded" if good else "Failed"
            if not self.node.devices.free_delay_s:
                # Whoever sees that it is over finds the device free: the scheduler does not wait for the object.
                self._release()
            self._publish()
            try:
                self.kubelet.api.delete("pods", self.pod_name, self.namespace, grace=0,
                                        uid=self.uid)
            except ApiError as error:
                if error.status not in (404, 409):
                    self.stop_at = time.monotonic() + 0.3
                    return False
        self._release()
        if self.volumes and not self.kubelet.keep:
            self.volumes.remove()
        return True

    def _release(self):
        if self.devices_held:
            self.devices_held = False
            self.node.devices.release(self.uid)

    # The status.

    def _addresses(self):
        return {"podIP": self.ip, "hostIP": "127.0.0.1"}

    def _conditions(self):
        done = self.phase == "Succeeded"
        inits = all(c.ready for c in self.inits)
        ready = self.phase == "Running" and all(c.ready for c in self.mains)
        gates = self._gates_open()
        values = [("PodReadyToStartContainers", self.volumes is not None and not done),
                  ("Initialized", inits), ("ContainersReady", ready), ("Ready", ready and gates)]
        why = "PodCompleted" if done else "ContainersNotReady"
        return [self._condition(kind, on, "" if on else why) for kind, on in values]

    def _condition(self, kind, on, reason):
        state = "True" if on else "False"
        before, since = self.changed_at.get(kind, (None, None))
        if before != state:
            since = stamp()
            self.changed_at[kind] = (state, since)
        return {"type": kind, "status": state, "reason": reason, "lastTransitionTime": since}

    def _gates_open(self):
        states = {item["type"]: item["status"]
                  for item in (self.pod.get("status") or {}).get("conditions") or []}
        return all(states.get(gate["conditionType"]) == "True"
                   for gate in self.pod["spec"].get("readinessGates") or [])

    def _status(self):
        if self.reason:
            return {"phase": self.phase, "reason": self.reason, "message": self.message,
                    "startTime": self.started}
        return {"phase": self.phase, "startTime": self.started, "hostIP": "127.0.0.1",
                "hostIPs": [{"ip": "127.0.0.1"}], "podIP": self.ip, "podIPs": [{"ip": self.ip}],
                "conditions": self._conditions(),
                "initContainerStatuses": [c.status() for c in self.inits],
                "containerStatuses": [c.status() for c in self.mains]}

    def _publish(self):
        """Writes the status if it changed; a failure is tried again at the next turn."""
        self._show_processes()
        status = self._status()
        if status == self.published or self.known.get("phase") in ("Succeeded", "Failed"):
            self.published = status
            return
        try:
            # The uid makes a patch of a namesake fail; the merge keeps others' conditions.
            self.kubelet.api.patch("pods", self.pod_name,
                                   {"metadata": {"uid": self.uid}, "status": status},
                                   self.namespace, "status", "strategic")
            self.published = status
        except ApiError as error:
            if error.status in (404, 409):
                self.published = status
            elif error.status:
                print("status of %s/%s: %s" % (self.namespace, self.pod_name, error),
                      file=sys.stderr, flush=True)

    def report(self):
        """For /state."""
        return {"uid": self.uid, "namespace": self.namespace, "name": self.pod_name,
                "node": self.node.name, "phase": self.phase, "reason": self.reason, "ip": self.ip,
                "folder": self.folder, "containers": {c.name: {
                    "init": c.init, "state": next(iter(c.state)), "restarts": c.restarts,
                    "pid": c.process.pid if c.process else None, "host_pid": c.pid, "env": c.env,
                    "argv": c.argv, "visible": c.visible, "allocated": self.share.get(c.name, []),
                } for c in self.inits + self.mains}}
