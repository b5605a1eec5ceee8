"""hack/soak and hack/bench: list what there is, or run one thing and judge its last line.

A soak or a bench is a Python or shell file in test/soak or test/bench. Its head (docstring or opening
comment) begins with a sentence that the list shows, and may have lines of these forms:

    smoke: --pods 200      arguments with which hack/test runs it, to see that it still works
    build: release         which build it wants: release (a bench's default), sanitized (a soak's), dev or none

Its last line of output is one JSON object. With "holds": false in it, or an exit status that is not 0,
the bar was missed. With "error" in it, what was measured did not work: that fails a smoke run too.
"""
import json
import os
import re
import signal
import subprocess
import sys

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILDS = {
    "dev": ("build", ()),
    "sanitized": ("build-sanitized", ("-Dsanitize=true",)),
    "release": ("build-release", ("--buildtype=release",)),
}


class Script:
    """One file of test/soak or test/bench, or a fuzz target under its soak's name."""

    def __init__(self, name, path, kind):
        self.name, self.path = name, path
        with open(path, encoding="utf-8") as f:
            head = re.sub(r"^#!.*\n", "", f.read(4096))
        self.what = re.sub(r'^[\s"#\']+', "", head).split("\n", 1)[0].strip("\"' ")
        smoke = re.search(r"^\W*smoke:(.*)$", head, re.M)
        self.smoke = smoke.group(1).split() if smoke else None
        wants = re.search(r"^\W*build:\s*(\w+)", head, re.M)
        self.build = wants.group(1) if wants else {"bench": "release", "soak": "sanitized"}[kind]

    def argv(self):
        if not self.path.endswith(".py"):
            return [self.path] if os.access(self.path, os.X_OK) else ["bash", self.path]
        python = subprocess.run([os.path.join(TREE, "hack", "lib", "venv")], stdout=subprocess.PIPE, text=True,
                                check=True).stdout.strip()
        return [python, self.path]


def scripts(kind):
    folder = os.path.join(TREE, "test", kind)
    found = {}
    for entry in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        stem, end = os.path.splitext(entry)
        path = os.path.join(folder, entry)
        if os.path.isfile(path) and (end in (".py", ".sh") or (not end and os.access(path, os.X_OK))):
            if not stem.startswith(("_", "test_")) and stem != "conftest":
                found[stem] = Script(stem, path, kind)
    return found


def environment(which):
    """What tells a script where its build is."""
    if which == "none":
        return {}
    folder = os.path.join(TREE, BUILDS[which][0])
    return {"ALIQUOT_BUILD": folder,
            "ALIQUOT_BINARY": os.path.join(folder, "src", "app", "aliquot"),
            "PYTHONPATH": os.path.join(TREE, "test", "lib")}


def ensure_build(which):
    """Makes the build that a script wants."""
    if which == "none":
        return
    folder, options = BUILDS[which]
    if not os.path.exists(os.path.join(TREE, folder, "build.ninja")):
        subprocess.run(["meson", "setup", *options, folder], cwd=TREE, check=True, stdout=sys.stderr)
    subprocess.run(["ninja", "-C", folder], cwd=TREE, check=True, stdout=sys.stderr)


def follow(argv, env):
    """Runs a command, passes its output on and returns (status, last line). A signal reaches it too."""
    process = subprocess.Popen(argv, cwd=TREE, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                               env=dict(os.environ, **env), start_new_session=True)

    def stop(number, _frame):
        os.killpg(process.pid, number)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    last = ""
    for line in process.stdout:
        sys.stdout.write(line)
        sys.stdout.flush()
        last = line.strip() or last
    return process.wait(), last


def tell(script):
    """What a script says of its arguments, without its build; one without options has only its head."""
    if script.path.endswith(".py"):
        return follow([*script.argv(), "--help"], environment(script.build))[0]
    print(script.what)
    return 0


def verdict(status, last, smoke):
    """0 where the bar was met; for a smoke run, where there is a result and no error in it."""
    try:
        result = json.loads(last)
    except ValueError:
        result = None
    if not isinstance(result, dict):
        print("the last line is not a JSON object", file=sys.stderr)
        return 1
    if smoke:
        # A bar may be missed here; what the thing does must be right nevertheless.
        return 1 if "error" in result else 0
    return 1 if status != 0 or result.get("holds") is False else 0


def main(kind, others=()):
    """`others` are (name, what, argv) that come from elsewhere than test/KIND."""
    known = scripts(kind)
    argv = sys.argv[1:]
    if argv[:1] in ([], ["--list"], ["--help"], ["-h"]):
        print("usage: hack/%s NAME [ARGUMENT...]\n" % kind)
        for name, what in sorted([(s.name, s.what) for s in known.values()] + [o[:2] for o in others]):
            print("  %-18s %s" % (name, what))
        return 0
    smoke = argv[0] == "--smoke"
    if smoke:
        argv = argv[1:]
    asks = not smoke and not {"--help", "-h"}.isdisjoint(argv[1:])
    for name, _, command in others:
        if argv and argv[0] == name and not smoke:
            if asks:
                return follow([*command, "--help"], {})[0]
            return verdict(*follow([*command, *argv[1:]], {}), False)
    if not argv or argv[0] not in known:
        print("hack/%s: nothing is named %s; hack/%s alone lists what there is" %
              (kind, argv[0] if argv else "''", kind), file=sys.stderr)
        return 2
    script = known[argv[0]]
    if smoke and script.smoke is None:
        print("hack/%s: %s has no smoke run" % (kind, script.name), file=sys.stderr)
        return 2
    if asks:
        return tell(script)
    build = "dev" if smoke and script.build != "none" else script.build
    ensure_build(build)
    arguments = script.smoke if smoke else argv[1:]
    env = dict(environment(build), **({"ALIQUOT_BENCH_TRIES": "1"} if smoke else {}))
    return verdict(*follow([*script.argv(), *arguments], env), smoke)
