"""What the checks stand on: loads, the daemon of MPS, and looks at the device over some time."""

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time


class Load:
    """One run of gpu-load. None of its lines is waited for longer than a limit: under MPS a client may wait for good."""

    def __init__(self, ground, *argv, prefix=(), meet=True, **env):
        self.pipe = subprocess.Popen([*prefix, ground.load, *[str(word) for word in argv]], stdout=subprocess.PIPE, text=True,
                                     env={**os.environ, **ground.env, **env})
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        ground.running.append(self)
        self.pid = self.pipe.pid
        self.first = self.line() if meet else None

    def _read(self):
        for text in self.pipe.stdout:
            self.lines.put(text)
        self.lines.put(None)

    def line(self, timeout=60):
        """The next line; what became of the load where it wrote none."""
        try:
            text = self.lines.get(timeout=timeout)
        except queue.Empty:
            return {"event": "silent", "seconds": timeout}
        if text is None:
            self.lines.put(None)
            return {"event": "ended", "status": self.pipe.wait(timeout)}
        return json.loads(text) if text.startswith("{") else {"event": "said", "text": text.strip()}

    def finish(self, timeout=120):
        """Its last line; a load that goes on for longer is killed."""
        last, end = {"event": "ended"}, time.monotonic() + timeout
        while True:
            line = self.line(max(0.1, end - time.monotonic()))
            if line["event"] == "silent":
                self.kill()
                return line
            if line["event"] == "ended":
                return {**line, **last} if last["event"] != "ended" else line
            last = line

    def kill(self):
        if self.pipe.poll() is None:
            self.pipe.kill()
        self.pipe.wait(30)


class Ground:
    """The device, the program gpu-load, and the environment of loads, which names a daemon of MPS where there is one."""

    def __init__(self, device, given):
        self.device, self.given, self.load = device, given, given.load
        self.env, self.running, self.folder = {}, [], None

    def note(self, name, text):
        """A file for who wants to read it later."""
        if self.given.out:
            with open(os.path.join(self.given.out, name), "a", encoding="utf-8") as file:
                file.write(text)

    def loads(self, *rows):
        """Several loads that begin at once; rows are arguments of gpu-load."""
        begun = [Load(self, *row, meet=False) for row in rows]
        for load in begun:
            load.first = load.line()
        return begun

    def clear(self):
        for load in self.running:
            load.kill()
        self.running = []

    # --- MPS ---

    def control(self, command, timeout=20):
        done = subprocess.run(["nvidia-cuda-mps-control"], input=command + "\n", env={**os.environ, **self.env}, text=True,
                              capture_output=True, timeout=timeout, check=False)
        return done.stdout.strip()

    def mps_start(self, *more):
        """A daemon in directories of its own; every user may reach them."""
        self.folder = tempfile.mkdtemp(prefix="gpu-truth-")
        os.chmod(self.folder, 0o755)
        self.env = {"CUDA_MPS_PIPE_DIRECTORY": os.path.join(self.folder, "pipe"),
                    "CUDA_MPS_LOG_DIRECTORY": os.path.join(self.folder, "log")}
        for path in self.env.values():
            os.makedirs(path, 0o755)
        subprocess.run(["nvidia-cuda-mps-control", "-d", *more], env={**os.environ, **self.env}, timeout=30, check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def mps_stop(self):
        self.clear()
        if self.env and self.folder:
            try:
                self.control("quit -t 5")
            except (OSError, subprocess.TimeoutExpired) as error:
                print("the MPS daemon did not quit: %s" % error, file=sys.stderr)
            for name in ("control.log", "server.log"):
                path = os.path.join(self.folder, "log", name)
                if os.path.exists(path):
                    with open(path, encoding="utf-8", errors="replace") as file:
                        self.note("mps-" + name, file.read()[-20000:])
        self.env = {}

    def server(self):
        words = self.control("get_server_list").split()
        return int(words[0]) if words and words[0].isdigit() else None


def by_pid(rows):
    """{pid: the percent of its rows}; what no driver can mean is left out."""
    found = {}
    for row in rows:
        if row.pid != 0 and row.sm <= 100:
            found.setdefault(row.pid, []).append(row.sm)
    return found


def mean(values):
    return sum(values) / len(values) if values else None


def watch(ground, seconds, period):
    """[(device's utilisation, {pid: mean of the percent of its new rows})], the return codes seen."""
    looks, codes, device = [], [], ground.device
    device.samples()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(period)
        code, rows, sized = device.samples()
        codes.append(code)
        use = device.utilization()
        looks.append((use, {pid: mean(sm) for pid, sm in by_pid(rows).items()}))
        ground.note("rows.jsonl", json.dumps({"at": time.time(), "code": code, "sized": sized, "device": use, "rows": [
            [row.pid, row.time, row.sm, row.memory] for row in rows]}) + "\n")
    return looks, codes


def spread(values):
    values = [value for value in values if value is not None]
    return "%.0f..%.0f" % (min(values), max(values)) if values else "none"
