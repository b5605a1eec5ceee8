"""Programs out of Debian packages whose installation would do more than put them there: Debian's prometheus
starts a service. One on PATH is taken as it is; else the package is fetched by apt-get, which checks it against
the archive's signed lists, and unpacked into the cache.

    python3 test/lib/debs.py     makes sure that all of them are there
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile

import binaries

# program -> (package, where it lies in it)
PROGRAMS = {"prometheus": ("prometheus", "usr/bin/prometheus"), "promtool": ("prometheus", "usr/bin/promtool")}
FETCH_TIMEOUT_S = 300


class DebError(RuntimeError):
    """A program is not to be had; the message says what to do."""


def cache_dir():
    return os.path.join(binaries.cache_dir(), "debs")


def _from_cache(program):
    # It is renamed to this place when it was seen to run.
    path = os.path.join(cache_dir(), PROGRAMS[program][0], os.path.basename(program))
    return path if os.access(path, os.X_OK) else None


def find(program, log=sys.stderr):
    """The path of PROGRAM; fetched first if need be."""
    found = shutil.which(program) or _from_cache(program)
    if found is None:
        os.makedirs(cache_dir(), exist_ok=True)
        with open(os.path.join(cache_dir(), "lock"), "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            found = _from_cache(program)
            if found is None:
                _fetch(PROGRAMS[program][0], log)
                found = _from_cache(program)
    return found


def _call(argv, folder):
    """What it says where it fails; None: it did not."""
    try:
        ended = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=FETCH_TIMEOUT_S, check=False,
                               stdin=subprocess.DEVNULL, env=dict(os.environ, LC_ALL="C.UTF-8"))
    except (OSError, subprocess.SubprocessError) as error:
        return "%s: %s" % (argv[0], error)
    said = (ended.stderr or ended.stdout).strip().splitlines()
    return None if ended.returncode == 0 else "%s: %s" % (" ".join(argv[:2]), " ".join(said[-3:]) or "it failed")


def _download(package, folder, log):
    """The first time on a bare machine there are no lists yet, and old ones name what is gone."""
    wrong = _call(["apt-get", "-q", "download", package], folder)
    if wrong is not None:
        root = [] if os.geteuid() == 0 else ["sudo", "-n"]
        print("no package lists or old ones; apt-get update", file=log)
        _call([*root, "apt-get", "-q", "-o", "DPkg::Lock::Timeout=300", "update"], folder)
        wrong = _call(["apt-get", "-q", "download", package], folder)
    if wrong is None:
        files = [name for name in os.listdir(folder) if name.endswith(".deb")]
        if len(files) == 1:
            return os.path.join(folder, files[0])
        wrong = "apt-get download left %d packages" % len(files)
    raise DebError("cannot fetch Debian's package %s (%s); put its programs on PATH, or run this once on a machine that "
                   "reaches the archive" % (package, wrong))


def _fetch(package, log):
    print("fetching the programs of Debian's %s; only the first run pays for this" % package, file=log)
    target = os.path.join(cache_dir(), package)
    # Unpacked aside and renamed, so that what was cut off is not taken for whole.
    with tempfile.TemporaryDirectory(dir=cache_dir()) as aside:
        tree, ready = os.path.join(aside, "tree"), os.path.join(aside, "ready")
        wrong = _call(["dpkg-deb", "-x", _download(package, aside, log), tree], aside)
        os.makedirs(ready)
        for program, (of, path) in PROGRAMS.items():
            if of == package and wrong is None:
                wrong = _call([os.path.join(tree, path), "--version"], aside)
                if wrong is None:
                    shutil.move(os.path.join(tree, path), os.path.join(ready, program))
        if wrong is not None:
            raise DebError("Debian's package %s was fetched and is of no use here: %s" % (package, wrong))
        shutil.rmtree(target, ignore_errors=True)
        os.rename(ready, target)


def main():
    try:
        for program in PROGRAMS:
            find(program)
    except DebError as error:
        sys.exit("debs: %s" % error)


if __name__ == "__main__":
    main()
