"""The fake libnvidia-ml.so.1: where it is, and how its topology files are written."""

import glob
import hashlib
import os
import subprocess

import binaries
import fleet

FLAGS = ("-std=gnu11", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC",
         "-fvisibility=hidden", "-shared", "-Wl,-soname,libnvidia-ml.so.1")


def compiled(folder, flags, name):
    """Path of a stand-in of test/fake, compiled into the cache by its content."""
    folder = os.path.join(binaries.TREE, "test", "fake", folder)
    digest = hashlib.sha256(repr(flags).encode())
    for path in sorted(glob.glob(os.path.join(folder, "*.[ch]"))):
        with open(path, "rb") as file:
            digest.update(file.read())
    kind = os.path.basename(folder)
    home = os.path.join(binaries.cache_dir(), "fake-%s-%s" % (kind, digest.hexdigest()[:12]))
    path = os.path.join(home, name)
    if not os.path.exists(path):
        os.makedirs(home, exist_ok=True)
        aside = "%s.%d" % (path, os.getpid())
        sources = sorted(glob.glob(os.path.join(folder, "*.c")))
        subprocess.run([os.environ.get("CC", "cc"), *flags, "-o", aside, *sources], check=True,
                       timeout=120)
        os.replace(aside, path)
    return path


def library(driver=3):
    """Path of the fake: named by ALIQUOT_FAKE_NVML, else compiled into the cache by its content.

    driver is how new the driver is: 2 and 1 are older ones (FAKE_DRIVER in nvml.h)."""
    given = os.environ.get("ALIQUOT_FAKE_NVML")
    if given and driver == 3:
        return os.path.abspath(given)
    return compiled("nvml", (*FLAGS, "-DFAKE_DRIVER=%d" % driver), "libnvidia-ml.so.1")


def uuid(node, index):
    """The UUID of a fake GPU: the same for the same node and place, different for all others."""
    digest = hashlib.sha256(("%s/%d" % (node, index)).encode()).hexdigest()
    return "GPU-%s-%s-%s-%s-%s" % (digest[:8], digest[8:12], digest[12:16], digest[16:20],
                                   digest[20:32])


def device(uuid_, minor, **more):
    """One device; more are keys of the format with _ for -, for example reserved_mib=600."""
    return {"uuid": uuid_, "name": fleet.MODEL, "minor": minor, "memory-mib": fleet.MEMORY_MIB,
            "mig": "0 0", **{key.replace("_", "-"): value for key, value in more.items()}}


def topology_text(devices, rules=(), driver=fleet.DRIVER):
    """The file's text. A value that is a list gives a line for each of its items."""
    lines = ["driver %s" % driver, *rules]
    for item in devices:
        lines.append("device")
        for key, value in item.items():
            for one in value if isinstance(value, (list, tuple)) else [value]:
                lines.append("  %s %s" % (key, one))
    return "\n".join(lines) + "\n"


def write_topology(path, devices, rules=(), driver=fleet.DRIVER):
    """Replaces the file at once, since a program may be reading it."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(topology_text(devices, rules, driver))
    os.replace(path + ".new", path)
