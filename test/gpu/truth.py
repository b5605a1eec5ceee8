#!/usr/bin/env python3
"""Asks a real GPU what documents leave open, and prints a row of docs/design/gpu-truth.md for each answer.

    hack/gpu              every check
    hack/gpu P1 R2        these
    hack/gpu --list       what there is

P1 to P5 are of the product itself, R2 and the others of the driver.

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
import time

import product
import rawnvml
from ground import Ground, Load, by_pid, mean, spread, watch

PLACES = ("build", "build-release")


DUTIES = (((25, 100),), ((100, 100),), ((50, 100), (50, 100)), ((50, 100), (50, 73)), ((60, 100), (20, 73)),
          ((25, 100), (25, 73), (25, 61), (25, 131)), ((100, 100), (100, 73)))


def r2(ground):
    """Metering truth: loads of known duty against sm of their PIDs and of the device; memory against what was taken."""
    device = ground.device
    for duties in DUTIES:
        loads = ground.loads(*[("spin", duty, period, 60, 1000) for duty, period in duties])
        name = " + ".join("%d %% of %d ms" % one for one in duties)
        time.sleep(2)
        looks, codes = watch(ground, 10, 1)
        yield name + ", read every second", "device %s, PIDs %s; codes %s" % (
            spread([look[0] for look in looks]),
            ", ".join(spread([look[1].get(load.pid, 0) for look in looks]) for load in loads), sorted(set(codes)))
        since = int((time.time() - 10) * 1000000)
        code, rows, _ = device.samples(since)
        found = by_pid(rows)
        _, kept = device.device_samples(since)
        held = device.processes("compute")
        yield name + ", the last 10 s at once", "code %d; of each PID rows %s, mean %s; %d samples of the device, mean %s; %s" % (
            code, [len(found.get(load.pid, [])) for load in loads],
            ["%.0f" % mean(found[load.pid]) if load.pid in found else None for load in loads],
            len(kept), mean([percent for _, percent in kept]),
            "memory of 1,000 MiB taken each: %s, of the device %s MiB" % (
                [held.get(load.pid) for load in loads] if isinstance(held, dict) else held, device.used_mib()))
        ground.clear()


def backward(ground, pid, seconds, now):
    """What is told of a process when the last so many seconds are asked for."""
    code, rows, _ = ground.device.samples(int((now - seconds) * 1000000))
    return "%d s: %s" % (seconds, ["%d of %.1f s ago" % (row.sm, now - row.time / 1000000) for row in rows if row.pid == pid]
                         or "code %d" % code)


def r14(ground):
    """Over what a row is the mean: a process that has just begun, and one that has stopped."""
    time.sleep(12)
    load = Load(ground, "spin", 80, 50, 60)
    time.sleep(4)
    now = time.time()
    yield "80 % for 4 s after 12 s without anybody; asked for the last", [
        backward(ground, load.pid, seconds, now) for seconds in (2, 8, 12)]
    os.kill(load.pid, signal.SIGSTOP)
    time.sleep(5)
    now = time.time()
    yield "the same, stopped for 5 s; asked for the last", [
        backward(ground, load.pid, seconds, now) for seconds in (3, 7, 9, 13)]
    other = Load(ground, "spin", 40, 50, 60)
    time.sleep(3)
    now = time.time()
    yield "the same, and another one at 40 % for 3 s: the stopped one", [
        backward(ground, load.pid, seconds, now) for seconds in (2, 10, 13)]
    yield "the other one", [backward(ground, other.pid, seconds, now) for seconds in (2, 10, 13)]


def r3(ground):
    """Nobody, somebody short, and many."""
    time.sleep(3)
    yield "nobody runs", "code and sized rows %s; listed %s; the device's use %s, memory %s MiB" % (
        ground.device.samples()[::2], ground.device.processes("compute"), ground.device.utilization(),
        ground.device.used_mib())
    load = Load(ground, "spin", 100, 10, 0)
    load.finish()
    for wait in (0.1, 1.5):
        time.sleep(wait)
        code, rows, _ = ground.device.samples(0)
        yield "a process of some milliseconds, %.1f s later" % wait, "code %d, seen %s" % (
            code, load.pid in [row.pid for row in rows])
    began = time.monotonic()
    loads = ground.loads(*[("spin", 1, 100, 60)] * 64)
    took = time.monotonic() - began
    time.sleep(3)
    code, rows, sized = ground.device.samples(0)
    listed = ground.device.processes("compute")
    seen = {row.pid for row in rows} & {load.pid for load in loads}
    yield "64 processes", "ready after %.1f s; code %d, sized %d, %d rows, %d of them seen; listed %s; time stamps %d us apart" % (
        took, code, sized, len(rows), len(seen), len(listed) if isinstance(listed, dict) else listed,
        max((row.time for row in rows), default=0) - min((row.time for row in rows), default=0))
    ground.clear()
    time.sleep(2)
    yield "all gone", "code %d; of all time code %d, rows of %d PIDs; listed %s" % (
        ground.device.samples()[0], ground.device.samples(0)[0], len(by_pid(ground.device.samples(0)[1])),
        ground.device.processes("compute"))


def r4(ground):
    """MPS from where its daemon is not: another /dev/shm, other PIDs, another user, both kinds of daemon."""
    shm = ("unshare", "--mount", "--", "sh", "-c", "mount -t tmpfs none /dev/shm && exec \"$@\"", "sh")
    private = ("unshare", "--mount", "--ipc", "--pid", "--fork", "--mount-proc", "--", "sh", "-c",
               "mount -t tmpfs none /dev/shm && exec \"$@\"", "sh")
    user = ("setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups", "--")
    for kind, more in (("plain", ()), ("-multiuser-server", ("-multiuser-server",)), ("-M", ("-M",))):
        try:
            ground.mps_start(*more)
        except subprocess.SubprocessError as error:
            yield "a daemon, %s" % kind, "does not start: %s" % error
            continue
        first = Load(ground, "work", 20)
        yield "a daemon, %s: a client of root" % kind, first.first.get("event")
        for name, prefix in (("/dev/shm of its own", shm), ("PIDs, IPC and /dev/shm of its own", private), ("uid 1000", user)):
            second = Load(ground, "work", 1, prefix=prefix, meet=False)
            second.first = second.line(8)
            done = second.finish(15) if second.first["event"] == "ready" else None
            yield "and one with %s" % name, "%s%s" % (second.first, "; then " + str(done) if done else "")
            second.kill()
        ground.mps_stop()


def r5(ground):
    """Under MPS: who is listed where, whose memory, and whose PID carries sm."""
    ground.mps_start()
    loads = ground.loads(("spin", 60, 100, 60, 500), ("spin", 20, 100, 60, 500))
    time.sleep(2)
    server = ground.server()
    looks, codes = watch(ground, 9, 1)
    names = {server: "server", loads[0].pid: "client 60 %", loads[1].pid: "client 20 %"}
    for kind in rawnvml.Device.LISTS:
        listed = ground.device.processes(kind)
        yield "list of %s" % kind, ({names.get(pid, pid): mib for pid, mib in listed.items()}
                                    if isinstance(listed, dict) else "code %d" % listed)
    yield "processor and memory of the server", "%s MiB; %.0f ms so far" % (product.memory_of(server), product.cpu_ms(server))
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
        load = Load(ground, "work", 3, CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=str(percent))
        done = load.finish()
        yield "%d %% by the environment" % percent, "%s multiprocessors, %s runs in %s ms" % (
            load.first.get("multiprocessors"), done.get("runs"), done.get("ms"))
    old = Load(ground, "work", 8)
    said = ground.control("set_active_thread_percentage %d 20" % ground.server())
    new = Load(ground, "work", 3)
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
    two = [Load(ground, "hold", 20, 1200, CUDA_MPS_PINNED_DEVICE_MEM_LIMIT="0=2000M") for _ in range(2)]
    yield "two processes of 1,200 MiB each under 2000M", [
        (load.first["event"], ground.device.processes("compute").get(load.pid)) for load in two]


def r9(ground):
    """What others feel when one fails, is killed, or is ended first."""
    ground.mps_start()
    other = Load(ground, "work", 20)
    began = time.monotonic()
    yield "one writes to an illegal address: its error", Load(ground, "fault").finish()
    server = ground.server()
    status = ground.control("get_server_status %d" % server) if server else "no server"
    yield "the other client; the server then", "%s; '%s'" % (other.finish(), status)
    while time.monotonic() - began < 40:
        server = ground.server()
        if server is None or "ACTIVE" in ground.control("get_server_status %d" % server):
            break
        time.sleep(0.2)
    fresh = Load(ground, "hold", 1)
    yield "fit for new clients after", "%.1f s: %s" % (time.monotonic() - began, fresh.first["event"])
    for first in (False, True):
        other, victim = Load(ground, "work", 8), Load(ground, "work", 60)
        time.sleep(2)
        said = ground.control("terminate_client %d %d" % (ground.server(), victim.pid)) if first else None
        os.kill(victim.pid, signal.SIGKILL)
        yield "SIGKILL at work, terminate_client first: %s" % first, "answer %r; the other: %s" % (said, other.finish())


def r12(ground):
    """What the driver and the control program know of MPS with namespaces, and of limits for groups of processes."""
    names = ("nvmlDeviceSetMemoryLimits_v1", "nvmlDeviceGetProcessesUtilizationInfo", "nvmlDeviceGetRunningProcessDetailList",
             "nvmlGpmMetricsGet", "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlSystemEventSetCreate")
    yield "the library has", {name: ground.device.has(name) for name in names}
    done = subprocess.run(["nvidia-cuda-mps-control", "-h"], capture_output=True, text=True, timeout=10, check=False,
                          stdin=subprocess.DEVNULL)
    text = done.stdout + done.stderr
    ground.note("mps-help.txt", text)
    yield "nvidia-cuda-mps-control -h", "status %d; -p %s, -M %s, -multiuser-server %s" % (
        done.returncode, " -p" in text, " -M" in text, "-multiuser-server" in text)


def r13(ground):
    """What being watched every second costs the one who works."""
    alone = Load(ground, "work", 10).finish()
    yield "alone", "%s runs in %s ms" % (alone.get("runs"), alone.get("ms"))
    busy = Load(ground, "work", 10)
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


CHECKS = {"P1": product.p1, "P2": product.p2, "P3": product.p3, "P4": product.p4, "P5": product.p5, "R2": r2, "R3": r3, "R4": r4, "R5": r5, "R6": r6, "R7": r7,
          "R8": r8, "R9": r9, "R12": r12, "R13": r13,
          "R14": r14}
FAILURES = (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, subprocess.SubprocessError)


def cell(text):
    return str(text).replace("|", "/").replace("\n", " ")


def run(ground, names):
    failed, began = 0, time.monotonic()
    print("Seen on %s:\n\n| check | what | seen |\n|---|---|---|" % ground.device.describe())
    for name in names:
        if ground.given.within and time.monotonic() - began > ground.given.within:
            print("| %s | not begun | no time was left |" % name, flush=True)
            failed += 1
            continue
        try:
            for what, seen in CHECKS[name](ground):
                print("| %s | %s | %s |" % (name, cell(what), cell(seen)), flush=True)
        except FAILURES as error:
            print("| %s | not made | %s: %s |" % (name, type(error).__name__, cell(error)), flush=True)
            failed += 1
        finally:
            ground.mps_stop()
    return 1 if failed else 0


def built(name):
    return next((os.path.join(place, name) for place in PLACES if os.path.exists(os.path.join(place, name))), None)


def parse():
    parser = argparse.ArgumentParser(prog="hack/gpu", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checks", nargs="*", metavar="CHECK")
    parser.add_argument("--list", action="store_true", help="what there is")
    parser.add_argument("--load", help="the program gpu-load; else that of a build")
    parser.add_argument("--aliquot", help="the program aliquot; else that of a build")
    parser.add_argument("--nvml-library", default="libnvidia-ml.so.1", help="the driver's library")
    parser.add_argument("--out", help="a folder for logs, pages of metrics and raw rows")
    parser.add_argument("--within", type=int, help="begin no check after so many seconds")
    parser.add_argument("--interval", type=int, default=15, help="seconds between two looks of the agent in P3")
    parser.add_argument("--agent-uid", type=int, default=60811 if os.geteuid() == 0 else None,
                        help="whose the agent's process is; the manifests' as root")
    given = parser.parse_args()
    unknown = [name for name in given.checks if name not in CHECKS]
    if unknown:
        parser.error("no check is called %s; --list says what there is" % ", ".join(unknown))
    given.load, given.aliquot = given.load or built("test/gpu/gpu-load"), given.aliquot or built("src/app/aliquot")
    if not given.list and (given.load is None or given.aliquot is None):
        parser.error("gpu-load or aliquot is not built: meson setup build && ninja -C build")
    return given


def main():
    given = parse()
    if given.list:
        for name, check in CHECKS.items():
            print("%-4s %s" % (name, check.__doc__.splitlines()[0]))
        return 0
    try:
        device = rawnvml.Device(given.nvml_library)
    except rawnvml.NoGpu as error:
        print("hack/gpu: no GPU here, nothing was checked: %s" % error, file=sys.stderr)
        return 77
    if given.out:
        os.makedirs(given.out, exist_ok=True)
    return run(Ground(device, given), given.checks or list(CHECKS))


if __name__ == "__main__":
    sys.exit(main())
