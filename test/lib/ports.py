"""Ports on loopback that no other run of ours takes.

They come from below the kernel's range for outgoing connections, so that a server that is restarted
on its port finds it free, and each is recorded in a file until its owner's folder is gone.
"""

import contextlib
import fcntl
import os
import random
import socket

FIRST = 20000
LAST = 32000


@contextlib.contextmanager
def _locked(root):
    os.makedirs(os.path.join(root, "ports"), mode=0o700, exist_ok=True)
    with open(os.path.join(root, "ports.lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield os.path.join(root, "ports")


def _taken(folder):
    taken = set()
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        with open(path, encoding="utf-8") as file:
            owner = file.read()
        if os.path.isdir(owner):
            taken.add(int(name))
        else:
            os.unlink(path)
    return taken


def _free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def reserve(root, owner, count):
    """COUNT free ports for the folder OWNER, kept for it until release or until it is gone."""
    chosen = []
    with _locked(root) as folder:
        taken = _taken(folder)
        candidates = random.SystemRandom().sample(range(FIRST, LAST), LAST - FIRST)
        for port in candidates:
            if len(chosen) == count:
                return chosen
            if port in taken or not _free(port):
                continue
            with open(os.path.join(folder, str(port)), "x", encoding="utf-8") as file:
                file.write(owner)
            chosen.append(port)
    raise RuntimeError("no %d free ports between %d and %d" % (count, FIRST, LAST))


def of_this_process(root):
    """A free port that is kept as long as this process lives."""
    return reserve(root, "/proc/%d" % os.getpid(), 1)[0]


def release(root, ports):
    with _locked(root) as folder:
        for port in ports:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, str(port)))
