"""A witness of the machine itself: a process that only sleeps, before everybody else on the controller's
core, and notes how late it is woken. When it is late the core was not there: its host had taken it away."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

PERIOD_NS = 2_000_000
LATE_NS = 500_000
PRIORITY = 2  # above the controller's


def watch(core):
    """The process: sleeps until it is told to end."""
    os.sched_setaffinity(0, {core})
    ended, parent = [], os.getppid()
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    except OSError:
        pass
    late = []
    due = time.monotonic_ns()
    while not ended and os.getppid() == parent:
        due = max(due + PERIOD_NS, time.monotonic_ns())
        time.sleep(max(0, due - time.monotonic_ns()) / 1e9)
        late.append(time.monotonic_ns() - due)
    late.sort()
    stalls = [each for each in late if each > LATE_NS]
    print(json.dumps({
        "late_p99_us": late[len(late) * 99 // 100] // 1000, "late_max_us": late[-1] // 1000,
        "stalls": len(stalls), "stalled_ms": sum(stalls) // 1_000_000}))


def stay_awake(core):
    """The process: keeps a core from going to sleep, behind everybody else on it. A virtual machine
    gives a core that has nothing to do back to its host, and may get it back milliseconds late."""
    os.sched_setaffinity(0, {core})
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    # Where the kernel weighs sessions against one another, a rank counts for nothing outside its own.
    with contextlib.suppress(OSError), open("/proc/self/autogroup", "w", encoding="ascii") as file:
        file.write("19")
    parent = os.getppid()
    while os.getppid() == parent:
        for _ in range(10_000):
            pass


class Awake:
    """While this is entered, no core of these sleeps."""

    def __init__(self, cores):
        self.cores, self.processes = cores, []

    def __enter__(self):
        self.processes = [subprocess.Popen([sys.executable, __file__, "awake", str(core)], start_new_session=True)
                          for core in sorted(self.cores)]
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait(10)


class Witness:
    def __init__(self, cores):
        self.process = subprocess.Popen([sys.executable, __file__, "watch", str(min(cores))],
                                        stdout=subprocess.PIPE, text=True)

    def tell(self):
        self.process.terminate()
        return json.loads(self.process.communicate(timeout=10)[0])


if __name__ == "__main__":
    {"watch": watch, "awake": stay_awake}[sys.argv[1]](int(sys.argv[2]))
