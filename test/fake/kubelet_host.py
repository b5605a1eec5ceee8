"""What a node's kernel shows of its pods: /proc and /sys/fs/cgroup, as trees below the node's folder.

A pod has its cgroup from its admission until it is over; a container that runs has one process, with a number of
the fake's own, whatever really runs. What a process has on a GPU is told through the node's topology file.
"""

import hashlib
import itertools
import os
import shutil
import threading
import time

# Beyond the largest number of this machine's processes, so that none is taken for another.
FIRST_PID = 5_000_000


def container_id(uid, name, restarts):
    return hashlib.sha256(("%s/%s/%d" % (uid, name, restarts)).encode()).hexdigest()


class Host:
    """The trees of one node, under FOLDER/host."""

    def __init__(self, folder):
        self.proc = os.path.join(folder, "host", "proc")
        self.cgroup = os.path.join(folder, "host", "sys", "fs", "cgroup")
        self._pids = itertools.count(FIRST_PID)
        self._lock = threading.Lock()
        # What an earlier kubelet left is of a boot that is over.
        for tree in (self.proc, self.cgroup):
            shutil.rmtree(tree, ignore_errors=True)
            os.makedirs(tree)
        _write(os.path.join(self.cgroup, "cgroup.controllers"), "cpu memory pids\n")

    @staticmethod
    def path_of(uid):
        """As the systemd driver of cgroups names a pod's."""
        return "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod%s.slice" % uid.replace("-", "_")

    def pod_begins(self, uid):
        os.makedirs(self.cgroup + self.path_of(uid), exist_ok=True)

    def pod_ends(self, uid):
        shutil.rmtree(self.cgroup + self.path_of(uid), ignore_errors=True)

    def process_begins(self, uid, identity):
        """A process of the container with this id; its number."""
        with self._lock:
            pid = next(self._pids)
        path = "%s/cri-containerd-%s.scope" % (self.path_of(uid), identity)
        os.makedirs(self.cgroup + path, exist_ok=True)
        folder = os.path.join(self.proc, str(pid))
        os.makedirs(folder)
        ticks = int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))
        _write(os.path.join(folder, "cgroup"), "0::%s\n" % path)
        _write(os.path.join(folder, "stat"), "%d (app) S 1 %s %d 0 0\n" % (pid, " ".join(["0"] * 17), ticks))
        return pid

    def process_ends(self, uid, identity, pid):
        shutil.rmtree(os.path.join(self.proc, str(pid)), ignore_errors=True)
        shutil.rmtree("%s%s/cri-containerd-%s.scope" % (self.cgroup, self.path_of(uid), identity),
                      ignore_errors=True)


def _write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
