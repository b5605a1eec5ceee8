"""Processes that are known by pid and start time, so that a reused pid is never signalled."""

import os
import signal
import subprocess
import time

# By pid, until they are reaped: subprocess reaps those that nobody refers to, and then their exit status is lost.
CHILDREN = {}


def start_time(pid):
    """Start time in clock ticks since boot; None where the process is gone or a zombie.

    A killed process whose first thread is a zombie already still has its ports while others end.
    """
    try:
        with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    over = fields[0] in "ZX" and int(fields[17]) <= 1
    return None if over else int(fields[19])


def start(argv, log_path, env=None):
    """Starts a process in a session of its own; returns its record, ready for JSON."""
    with open(log_path, "ab") as log:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   env=env, start_new_session=True)
    CHILDREN[process.pid] = process
    return {"argv": argv, "log": log_path, "pid": process.pid, "start": start_time(process.pid)}


def alive(record):
    return bool(record and record.get("pid")) and record["start"] is not None and \
        start_time(record["pid"]) == record["start"]


def send(record, number):
    """Sends a signal if the recorded process still lives; tells whether it did."""
    if not alive(record):
        return False
    try:
        os.kill(record["pid"], number)
    except ProcessLookupError:
        return False
    return True


def await_exit(records, timeout):
    """Waits for the recorded processes to end; tells whether all did."""
    deadline = time.monotonic() + timeout
    while any(alive(record) for record in records):
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.02)
    for record in records:
        _reap(record)
    return True


def stop(records, timeout=10.0):
    """SIGTERM to all of them, then SIGKILL to those that do not leave in time."""
    records = [record for record in records if record]
    for record in records:
        send(record, signal.SIGCONT)
        send(record, signal.SIGTERM)
    if not await_exit(records, timeout):
        for record in records:
            send(record, signal.SIGKILL)
        await_exit(records, 5.0)


def _reap(record):
    """Not the child of another process, which took this one up from its record."""
    child = CHILDREN.get(record["pid"])
    if child is not None and child.poll() is not None:
        record["status"] = child.returncode
        CHILDREN.pop(record["pid"], None)


def log_tail(path, size=3000):
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.path.getsize(path) - size))
            return file.read().decode("utf-8", "replace")
    except OSError as error:
        return "no log: %s" % error
