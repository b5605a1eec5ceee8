"""Fuzzing by libFuzzer: builds the targets with clang 14, runs one in slices, keeps count between runs.

Time counts for one state of the sources: when src, include or the fuzz targets change, the count starts
anew and the inputs found so far are kept as seeds. What libFuzzer learns stays in the state folder;
test/fuzz/corpus/NAME holds the seeds that belong to the tree and is only read.
"""
import argparse
import fcntl
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(TREE, "build-fuzz")
SLICE_S = 60
# Seconds that count as enough: what parses bytes of anybody who reaches us is worth more than files of our own.
BAR_S, LONG_BAR_S, LONG = 180, 600, ("slice", "http", "step", "journal", "objects", "server")


def find_targets():
    """{name: (seconds that count as enough, what it feeds)} of test/fuzz/fuzz_NAME.c."""
    folder, found = os.path.join(TREE, "test", "fuzz"), {}
    for entry in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        name = re.fullmatch(r"fuzz_(\w+)\.c", entry)
        if name:
            with open(os.path.join(folder, entry), encoding="utf-8") as f:
                what = re.sub(r"\s*\n \*\s*", " ", f.read(600)).lstrip("/* ")
            what = re.split(r"[:.;]| \*/", what, maxsplit=1)[0]
            found[name.group(1)] = (LONG_BAR_S if name.group(1) in LONG else BAR_S, what)
    return found


TARGETS = find_targets()


def state_dir():
    base = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(base, "aliquot", "soak")


def sources_digest():
    """What the count is valid for."""
    digest = hashlib.sha256()
    for top in ("src", "include", "test/fuzz", "meson.build"):
        paths = [os.path.join(TREE, top)]
        for folder, dirs, names in os.walk(paths[0]):
            dirs[:] = sorted(d for d in dirs if d != "corpus")
            paths += [os.path.join(folder, n) for n in sorted(names) if n.endswith((".c", ".h", ".build"))]
        for path in paths:
            if os.path.isfile(path):
                with open(path, "rb") as f:
                    digest.update(os.path.relpath(path, TREE).encode() + b"\0" + f.read() + b"\0")
    return digest.hexdigest()[:16]


class State:
    """The count of one target, on disk after every slice."""

    def __init__(self, name, digest):
        self.path = os.path.join(state_dir(), "fuzz-%s.json" % name)
        self.counts = {"name": "fuzz-" + name, "sources": digest, "seconds": 0, "execs": 0, "findings": 0}
        try:
            with open(self.path, encoding="utf-8") as f:
                before = json.load(f)
            if before.get("sources") == digest:
                self.counts = before
        except (OSError, ValueError):
            pass

    def save(self):
        part = self.path + ".part"
        with open(part, "w", encoding="utf-8") as f:
            json.dump(self.counts, f)
        os.replace(part, self.path)


def build(name):
    """Path of the target's program, built now."""
    if not os.path.exists(os.path.join(BUILD, "build.ninja")):
        subprocess.run(["bash", "-c", ". hack/lib/install.sh && install_packages build test fuzz"], cwd=TREE,
                       check=True, stdout=sys.stderr, stdin=subprocess.DEVNULL)
        # Clang warns of other things than gcc; the development build is where warnings are judged.
        subprocess.run(["meson", "setup", "-Dfuzz=true", "-Dsanitize=true", "-Dc_args=-Wno-error", BUILD], cwd=TREE,
                       check=True, stdout=sys.stderr, env=dict(os.environ, CC="clang-14"))
    listed = subprocess.run(["meson", "introspect", "--targets", BUILD], cwd=TREE, check=True,
                            capture_output=True, text=True).stdout
    for target in json.loads(listed):
        if target["type"] == "executable" and target["name"] in ("fuzz-" + name, "fuzz_" + name):
            program = target["filename"][0]
            subprocess.run(["ninja", "-C", BUILD, os.path.relpath(program, BUILD)], check=True, stdout=sys.stderr)
            return program
    sys.exit("hack/fuzz: no fuzz-%s among the targets of test/fuzz" % name)


def run_slice(program, name, seconds, state):
    """One run of libFuzzer. False where it found something."""
    learned = os.path.join(state_dir(), "corpus", name)
    findings = os.path.join(state_dir(), "findings")
    for folder in (learned, findings):
        os.makedirs(folder, exist_ok=True)
    seeds = os.path.join(TREE, "test", "fuzz", "corpus", name)
    folders = [learned] + ([seeds] if os.path.isdir(seeds) else [])
    argv = [program, "-max_total_time=%d" % seconds, "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1",
            "-verbosity=1", "-artifact_prefix=%s/%s-" % (findings, name), *folders]
    began = time.monotonic()
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               text=True, errors="replace")

    def stop(number, _frame):
        process.send_signal(signal.SIGINT)
        raise SystemExit(128 + number)
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        said = process.communicate(timeout=seconds + 120)[1]
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    execs = re.search(r"stat::number_of_executed_units:\s*(\d+)", said)
    state.counts["execs"] += int(execs.group(1)) if execs else 0
    if process.returncode == 0:
        state.counts["seconds"] += int(time.monotonic() - began)
    else:
        state.counts["findings"] += 1
        print(said[-6000:])
    state.save()
    return process.returncode == 0


def main():
    parser = argparse.ArgumentParser(prog="hack/fuzz", description=__doc__.split("\n", 1)[0])
    parser.add_argument("target", nargs="?", choices=sorted(TARGETS), help="which parser; all are listed without it")
    parser.add_argument("--seconds", type=int, help="time that counts as enough, instead of the target's own")
    parser.add_argument("--again", action="store_true", help="forget the time counted so far")
    options = parser.parse_args()
    if options.target is None:
        for name, (bar, what) in TARGETS.items():
            print("  %-12s %4d s  %s" % (name, bar, what))
        return 0
    name = options.target
    bar = options.seconds or TARGETS[name][0]
    os.makedirs(state_dir(), exist_ok=True)
    with open(os.path.join(state_dir(), "fuzz-%s.lock" % name), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        program = build(name)
        state = State(name, sources_digest())
        if options.again or state.counts["findings"]:
            state.counts.update(seconds=0, execs=0, findings=0)
        while state.counts["seconds"] < bar:
            left = bar - state.counts["seconds"]
            if not run_slice(program, name, min(SLICE_S, left), state):
                break
            print("fuzz-%s: %d of %d s, %d executions" % (name, state.counts["seconds"], bar, state.counts["execs"]),
                  flush=True)
    holds = state.counts["findings"] == 0 and state.counts["seconds"] >= bar
    print(json.dumps(dict(state.counts, bar_seconds=bar, holds=holds)))
    return 0 if holds else 1
