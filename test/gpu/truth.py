#!/usr/bin/env python3
"""Asks a real GPU what documents leave open, and prints a row of docs/design/gpu-truth.md for each answer.

    hack/gpu              every check
    hack/gpu R2 R5        these
    hack/gpu --list       what there is

Exits 77 where there is no GPU, 1 where a check could not be made. What is seen is neither right nor wrong: the
rows go into the table, and what the product does follows from them. Device settings are left alone: no MIG, no
reset, no compute mode.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

import rawnvml

PLACES = ("build/test/gpu/gpu-load", "build-release/test/gpu/gpu-load")


class Load:
    """One run of gpu-load; leaves with its block."""

    def __init__(self, ground, *argv, **env):
        self.pipe = subprocess.Popen([ground.load, *[str(word) for word in argv]], stdout=subprocess.PIPE, text=True,
                                     env={**os.environ, **ground.env, **env})
        ground.running.append(self)
        self.first = self.line()
        self.pid = self.pipe.pid

    def line(self):
        text = self.pipe.stdout.readline()
        return json.loads(text) if text.startswith("{") else {"event": "ended", "status": self.pipe.wait(60)}

    def finish(self, timeout=120):
        """Its last line."""
        rest = self.pipe.communicate(timeout=timeout)[0].splitlines()
        return json.loads(rest[-1]) if rest else {"event": "ended", "status": self.pipe.returncode}

    def kill(self):
        if self.pipe.poll() is None:
            self.pipe.kill()
        self.pipe.wait(30)


class Ground:
    def __init__(self, device, load):
        self.device, self.load = device, load
        self.env, self.running, self.folder = {}, [], None

    def clear(self):
        for load in self.running:
            load.kill()
        self.running = []

    # --- MPS ---

    def control(self, command, timeout=20):
        done = subprocess.run(["nvidia-cuda-mps-control"], input=command + "\n", env={**os.environ, **self.env}, text=True,
                              capture_output=True, timeout=timeout, check=False)
        return done.stdout.strip()

    def mps_start(self):
        self.folder = tempfile.mkdtemp(prefix="gpu-truth-")
        self.env = {"CUDA_MPS_PIPE_DIRECTORY": os.path.join(self.folder, "pipe"),
                    "CUDA_MPS_LOG_DIRECTORY": os.path.join(self.folder, "log")}
        for path in self.env.values():
            os.makedirs(path)
        subprocess.run(["nvidia-cuda-mps-control", "-d"], env={**os.environ, **self.env}, timeout=30, check=True)

    def mps_stop(self):
        self.clear()
        if self.env:
            try:
                self.control("quit -t 5")
            except subprocess.TimeoutExpired:
                print("the MPS daemon did not quit in time", file=sys.stderr)
        self.env = {}

    def server(self):
        words = self.control("get_server_list").split()
        return int(words[0]) if words and words[0].isdigit() else None


def watch(device, seconds, period):
    """[(device's utilisation, {pid: mean sm of the rows of that period})], the return codes seen."""
    looks, codes = [], []
    device.samples()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(period)
        code, rows, _ = device.samples()
        by_pid = {}
        for row in rows:
            if row.sm <= 100:
                by_pid.setdefault(row.pid, []).append(row.sm)
        codes.append(code)
        looks.append((device.utilization(), {pid: sum(sm) / len(sm) for pid, sm in by_pid.items()}))
    return looks, codes


def spread(values):
    values = [value for value in values if value is not None]
    return "%.0f..%.0f" % (min(values), max(values)) if values else "none"


def r2(ground):
    """Metering truth: loads of known duty against sm of their PIDs and of the device; memory against what was taken."""
    for duties in ((25,), (50,), (100,), (50, 50), (25, 25, 25, 25), (100, 100)):
        for period in (1, 5, 15):
            loads = [Load(ground, "spin", duty, 100, 24 + period * 4, 1000) for duty in duties]
            time.sleep(3)
            looks, codes = watch(ground.device, period * 4, period)
            held = ground.device.processes("compute")
            ground.clear()
            yield ("duty %s, read every %d s" % ("+".join(map(str, duties)), period),
                   "device %s, PIDs %s; codes %s; memory of 1,000 MiB taken: %s" % (
                       spread([look[0] for look in looks]),
                       ", ".join(spread([look[1].get(load.pid) for look in looks]) for load in loads),
                       sorted(set(codes)), [held.get(load.pid) for load in loads] if isinstance(held, dict) else held))


def r3(ground):
    """Nobody, somebody short, and many."""
    time.sleep(5)
    yield "nobody runs", "code and sized rows %s" % (ground.device.samples()[::2],)
    load = Load(ground, "spin", 100, 10, 0)
    load.finish()
    time.sleep(0.1)
    code, rows, _ = ground.device.samples()
    yield "a process of some milliseconds", "code %d, seen %s" % (code, load.pid in [row.pid for row in rows])
    loads = [Load(ground, "spin", 1, 100, 40) for _ in range(64)]
    time.sleep(5)
    code, rows, sized = ground.device.samples(0)
    listed = ground.device.processes("compute")
    seen = {row.pid for row in rows} & {load.pid for load in loads}
    yield "64 processes", "code %d, sized %d, %d rows, %d of them seen; listed %s; time stamps %d apart at most" % (
        code, sized, len(rows), len(seen), len(listed) if isinstance(listed, dict) else listed,
        max((row.time for row in rows), default=0) - min((row.time for row in rows), default=0))


def r5(ground):
    """Under MPS: who is listed where, whose memory, and whose PID carries sm."""
    ground.mps_start()
    loads = [Load(ground, "spin", duty, 100, 30, 500) for duty in (60, 20)]
    time.sleep(3)
    server = ground.server()
    looks, codes = watch(ground.device, 12, 3)
    names = {server: "server", loads[0].pid: "client 60 %", loads[1].pid: "client 20 %"}
    for kind in rawnvml.Device.LISTS:
        listed = ground.device.processes(kind)
        yield "list of %s" % kind, ({names.get(pid, pid): mib for pid, mib in listed.items()}
                                    if isinstance(listed, dict) else "code %d" % listed)
    yield "sm by PID, codes %s" % sorted(set(codes)), {
        names.get(pid, pid): spread([look[1].get(pid) for look in looks])
        for pid in {pid for look in looks for pid in look[1]}}
    yield "sm of the device", spread([look[0] for look in looks])


def r6(ground):
    """How many contexts one device takes under MPS."""
    ground.mps_start()
    count, last = 0, None
    for count in range(80):
        last = Load(ground, "hold", 120).first
        if last["event"] != "ready":
            break
    yield "contexts until one is refused", "%d; then %s; the first one still runs: %s" % (
        count, last, ground.running[0].pipe.poll() is None)


def r7(ground):
    """What a thread percentage does, at start and later."""
    ground.mps_start()
    for percent in (100, 50, 25, 10):
        load = Load(ground, "work", 5, CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=str(percent))
        done = load.finish()
        yield "%d %% by the environment" % percent, "%s multiprocessors, %s runs in %s ms" % (
            load.first.get("multiprocessors"), done.get("runs"), done.get("ms"))
    old = Load(ground, "work", 12)
    said = ground.control("set_active_thread_percentage %d 20" % ground.server())
    new = Load(ground, "work", 5)
    yield "set_active_thread_percentage 20 on a server that runs", "answer '%s'; new client %s multiprocessors, %s" % (
        said, new.first.get("multiprocessors"), new.finish())
    yield "its old client", "%s multiprocessors, %s" % (old.first.get("multiprocessors"), old.finish())


def r8(ground):
    """The pinned limit: what it counts, per process or not, by number or by UUID."""
    ground.mps_start()
    for form in ("0=2000M", "%s=2000M" % ground.device.uuid()):
        load = Load(ground, "fill", 50, CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=form)
        yield form.split("=", maxsplit=1)[0][:8] + "…=2000M, fill", "%s; shown at first: %s MiB free of %s" % (
            load.finish(), load.first.get("freeMiB"), load.first.get("totalMiB"))
    two = [Load(ground, "hold", 20, 1500, CUDA_MPS_PINNED_DEVICE_MEM_LIMIT="0=2000M") for _ in range(2)]
    yield "two processes of 1,500 MiB each under 2000M", [load.first["event"] for load in two]


def r9(ground):
    """What others feel when one fails, is killed, or is ended first."""
    ground.mps_start()
    other = Load(ground, "work", 40)
    began = time.monotonic()
    yield "one writes to an illegal address: its error", Load(ground, "fault").finish()
    server = ground.server()
    status = ground.control("get_server_status %d" % server) if server else "no server"
    yield "the other client; the server then", "%s; '%s'" % (other.finish(), status)
    while time.monotonic() - began < 60:
        server = ground.server()
        if server is None or "ACTIVE" in ground.control("get_server_status %d" % server):
            break
        time.sleep(0.2)
    fresh = Load(ground, "hold", 1)
    yield "fit for new clients after", "%.1f s: %s" % (time.monotonic() - began, fresh.first["event"])
    for first in (False, True):
        other, victim = Load(ground, "work", 12), Load(ground, "work", 60)
        time.sleep(2)
        said = ground.control("terminate_client %d %d" % (ground.server(), victim.pid)) if first else None
        os.kill(victim.pid, signal.SIGKILL)
        yield "SIGKILL at work, terminate_client first: %s" % first, "answer %r; the other: %s" % (said, other.finish())


def r13(ground):
    """What being watched every second costs the one who works."""
    alone = Load(ground, "work", 20).finish()
    yield "alone", "%s runs in %s ms" % (alone.get("runs"), alone.get("ms"))
    busy = Load(ground, "work", 20)
    device, looks, spent = ground.device, 0, 0.0
    while busy.pipe.poll() is None:
        began = time.perf_counter()
        device.samples()
        for kind in rawnvml.Device.LISTS:
            device.processes(kind)
        device.utilization()
        device.used_mib()
        spent += time.perf_counter() - began
        looks += 1
        time.sleep(1)
    done = busy.finish()
    yield "read every second", "%s runs in %s ms; %d looks of %.1f ms" % (
        done.get("runs"), done.get("ms"), looks, 1000 * spent / max(looks, 1))


CHECKS = {"R2": r2, "R3": r3, "R5": r5, "R6": r6, "R7": r7, "R8": r8, "R9": r9, "R13": r13}


def run(ground, names):
    failed = 0
    print("Seen on %s:\n\n| check | what | seen |\n|---|---|---|" % ground.device.describe())
    for name in names:
        try:
            for what, seen in CHECKS[name](ground):
                print("| %s | %s | %s |" % (name, what, seen), flush=True)
        except (OSError, ValueError, KeyError, TypeError, IndexError, subprocess.SubprocessError) as error:
            print("| %s | not made | %s: %s |" % (name, type(error).__name__, error), flush=True)
            failed += 1
        finally:
            ground.mps_stop()
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(prog="hack/gpu", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checks", nargs="*", metavar="CHECK")
    parser.add_argument("--list", action="store_true", help="what there is")
    parser.add_argument("--load", help="the program gpu-load; else that of a build")
    given = parser.parse_args()
    unknown = [name for name in given.checks if name not in CHECKS]
    if given.list:
        for name, check in CHECKS.items():
            print("%-4s %s" % (name, check.__doc__))
        return 0
    if unknown:
        parser.error("no check is called %s; --list says what there is" % ", ".join(unknown))
    load = given.load or next((place for place in PLACES if os.path.exists(place)), None)
    if load is None:
        parser.error("gpu-load is not built: meson setup build && ninja -C build")
    try:
        device = rawnvml.Device()
    except rawnvml.NoGpu as error:
        print("hack/gpu: no GPU here, nothing was checked: %s" % error, file=sys.stderr)
        return 77
    return run(Ground(device, load), given.checks or list(CHECKS))


if __name__ == "__main__":
    sys.exit(main())
