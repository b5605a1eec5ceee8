"""hack/gpu on a machine without a GPU: it says so, and its raw reader reads the fake library as it would a real one."""

import json
import os
import subprocess
import sys

import binaries
import nvml

HACK = os.path.join(binaries.TREE, "hack", "gpu")
READ = """
import json, sys
sys.path.insert(0, sys.argv[1])
import rawnvml
device = rawnvml.Device(sys.argv[2])
print(json.dumps([device.describe(), device.uuid(), device.processes("compute"), device.processes("mps"), device.used_mib()]))
"""


def run(*argv, **env):
    return subprocess.run([HACK, *argv], capture_output=True, text=True, timeout=60, check=False, env={**os.environ, **env})


def load():
    build = os.environ.get("ALIQUOT_BUILD", os.path.join(binaries.TREE, "build"))
    return os.path.join(build, "test", "gpu", "gpu-load")


def test_no_driver_is_no_answer(tmp_path):
    """Neither a pass nor a failure; a library that is none is the same as no library."""
    (tmp_path / "libnvidia-ml.so.1").write_bytes(b"")
    done = run("--load", sys.executable, LD_LIBRARY_PATH=str(tmp_path))
    assert done.returncode == 77
    assert "no GPU here, nothing was checked" in done.stderr
    assert done.stdout == ""


def test_what_it_does_not_know():
    done = run("R99")
    assert done.returncode == 2
    assert "no check is called R99; --list says what there is" in done.stderr
    listed = run("--list")
    assert listed.returncode == 0
    assert [line.split()[0] for line in listed.stdout.splitlines()] == [
        *["P%d" % i for i in range(1, 6)], *["R%d" % i for i in range(2, 10)], "R12", "R13", "R14"]


def test_every_check_has_its_row():
    with open(os.path.join(binaries.TREE, "docs", "design", "gpu-truth.md"), encoding="utf-8") as file:
        rows = [line.split("|")[1].strip() for line in file if line.startswith(("| P", "| R"))]
    assert rows == [line.split()[0] for line in run("--list").stdout.splitlines()]


# Plays gpu-load: it is on the device at once, with what it takes and uses, and stays there when it has gone.
PLAYED = """#!%s
import json, os, sys, time
argv = sys.argv[1:]
spin = argv[0] == "spin"
with open(os.environ["FAKE_NVML_TOPOLOGY"], "a") as file:
    file.write("  process compute %%d %%d\\n  use %%d %%d\\n" %% (
        os.getpid(), 500 + int((argv[4:] if spin else argv[2:] or ["0"])[0]), os.getpid(), int(argv[1]) if spin else 100))
print(json.dumps({"event": "ready", "pid": os.getpid()}), flush=True)
time.sleep(float(argv[3] if spin else argv[1]))
"""


def test_the_product_by_itself(tmp_path):
    """P1 and P3 need no cluster: the capacity pod's program, and an agent that gives each load to its pod."""
    topology, played, out = str(tmp_path / "topology"), tmp_path / "load", tmp_path / "out"
    nvml.write_topology(topology, [nvml.device(nvml.uuid("n", 0), 0, busy="80 5", gpm="80 80 20 10 5 100 200")], [])
    played.write_text(PLAYED % sys.executable)
    played.chmod(0o755)
    build = os.environ.get("ALIQUOT_BUILD", os.path.join(binaries.TREE, "build"))
    aliquot = os.environ.get("ALIQUOT_BINARY", os.path.join(build, "src", "app", "aliquot"))
    done = run("--load", str(played), "--aliquot", aliquot, "--nvml-library", nvml.library(), "--out", str(out),
               "--interval", "1", "--agent-uid", str(os.getuid()), "P1", "P3",
               FAKE_NVML_TOPOLOGY=topology, NVIDIA_VISIBLE_DEVICES="all")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("| P")]
    assert any("identify | status 0" in row and nvml.uuid("n", 0) in row for row in rows), rows
    assert any("GPU_UTIL one 60, two 20, device 80; FB_USED one 4500, two 1500, " in row for row in rows), rows
    assert (out / "metrics-p3-usual.txt").exists()


def test_raw_reader(tmp_path):
    """Its layouts are those of the header."""
    topology = str(tmp_path / "topology")
    nvml.write_topology(topology, [nvml.device(nvml.uuid("n", 0), 0, process=["compute 4711 300"])], [])
    done = subprocess.run([sys.executable, "-c", READ, os.path.join(binaries.TREE, "test", "gpu"), nvml.library()],
                          capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, "FAKE_NVML_TOPOLOGY": topology, "NVIDIA_VISIBLE_DEVICES": "all"})
    assert done.returncode == 0, done.stderr
    described, uuid, compute, mps, used = json.loads(done.stdout)
    assert "H100" in described and "driver" in described
    assert uuid == nvml.uuid("n", 0)
    assert compute == {"4711": 300} and mps == {} and used >= 0


def test_load_without_cuda(tmp_path):
    done = subprocess.run([load(), "hold", "1"], capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path)})
    assert done.returncode == 2
    assert json.loads(done.stdout)["event"] == "no-cuda"
    for words in (["spin", "101", "10", "1"], ["spin", "ten", "10", "1"], ["fill"], []):
        done = subprocess.run([load(), *words], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 2 and "gpu-load" in done.stderr
