"""The fake libnvidia-ml.so.1, through ctypes, as any program would load it."""

import ctypes
import json
import os
import subprocess
import sys

import pytest

import nvml

PROBE = r"""
import ctypes, json, sys
lib = ctypes.CDLL(sys.argv[1])
out = {"init": lib.nvmlInit_v2()}
count = ctypes.c_uint()
out["count_rc"] = lib.nvmlDeviceGetCount_v2(ctypes.byref(count))
out["uuids"] = []
for i in range(count.value):
    handle = ctypes.c_void_p()
    assert lib.nvmlDeviceGetHandleByIndex_v2(i, ctypes.byref(handle)) == 0
    text = ctypes.create_string_buffer(96)
    assert lib.nvmlDeviceGetUUID(handle, text, 96) == 0
    out["uuids"].append(text.value.decode())
print(json.dumps(out))
"""


class Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong),
                ("used", ctypes.c_ulonglong)]


class MemoryV2(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint), ("total", ctypes.c_ulonglong),
                ("reserved", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong),
                ("used", ctypes.c_ulonglong)]


class Process(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("used", ctypes.c_ulonglong), ("gi", ctypes.c_uint),
                ("ci", ctypes.c_uint)]


class Pci(ctypes.Structure):
    _fields_ = [("legacy", ctypes.c_char * 16), ("domain", ctypes.c_uint), ("bus", ctypes.c_uint),
                ("device", ctypes.c_uint), ("id", ctypes.c_uint), ("subsystem", ctypes.c_uint),
                ("bus_id", ctypes.c_char * 32)]


A, B, C = (nvml.uuid("n", i) for i in range(3))


@pytest.fixture
def topology(tmp_path, monkeypatch):
    """Writes the topology anew; the library must see that without being told."""
    path = str(tmp_path / "topology")
    monkeypatch.setenv("FAKE_NVML_TOPOLOGY", path)
    monkeypatch.delenv("NVIDIA_VISIBLE_DEVICES", raising=False)

    def write(devices=None, rules=()):
        nvml.write_topology(path, devices or [nvml.device(A, 0), nvml.device(B, 1),
                                              nvml.device(C, 2)], rules)
        return path
    return write


@pytest.fixture
def lib(topology):
    topology()
    loaded = ctypes.CDLL(nvml.library())
    loaded.nvmlErrorString.restype = ctypes.c_char_p
    assert loaded.nvmlInit_v2() == 0
    yield loaded
    loaded.nvmlShutdown()


def handle_of(lib, index=0):
    handle = ctypes.c_void_p()
    assert lib.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle)) == 0
    return handle


def seen(path, visible):
    """What a fresh process with NVIDIA_VISIBLE_DEVICES=visible sees; None leaves it unset."""
    env = dict(os.environ, FAKE_NVML_TOPOLOGY=path)
    env.pop("NVIDIA_VISIBLE_DEVICES", None)
    if visible is not None:
        env["NVIDIA_VISIBLE_DEVICES"] = visible
    done = subprocess.run([sys.executable, "-c", PROBE, nvml.library()], env=env, timeout=20,
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("visible, uuids", [
    (None, [A, B, C]), ("all", [A, B, C]), ("void", []), ("none", []), ("", []),
    (B, [B]), ("2,0", [A, C]), ("%s,%s" % (C, C), [C]), ("GPU-unknown", []),
    ("runtime.nvidia.com/gpu=" + B, [B]), ("k8s.device-plugin.nvidia.com/gpu=" + C, [C]),
])
def test_visible_devices_as_the_container_runtime_reads_them(topology, visible, uuids):
    assert seen(topology(), visible) == {"init": 0, "count_rc": 0, "uuids": uuids}


def test_a_node_may_refuse_a_bare_uuid(topology):
    path = topology(rules=["refuse-bare-uuid"])
    assert seen(path, A)["uuids"] == []
    assert seen(path, "runtime.nvidia.com/gpu=" + A)["uuids"] == [A]


def test_identity(lib):
    handle = handle_of(lib, 1)
    text = ctypes.create_string_buffer(96)
    assert lib.nvmlDeviceGetUUID(handle, text, 96) == 0 and text.value.decode() == B
    assert lib.nvmlDeviceGetUUID(handle, text, 10) == 7  # INSUFFICIENT_SIZE
    assert lib.nvmlDeviceGetName(handle, text, 96) == 0
    assert text.value == b"NVIDIA H100 80GB HBM3"
    assert lib.nvmlSystemGetDriverVersion(text, 96) == 0 and text.value == b"570.86.15"
    number = ctypes.c_uint()
    assert lib.nvmlDeviceGetMinorNumber(handle, ctypes.byref(number)) == 0 and number.value == 1
    cuda = ctypes.c_int()
    assert lib.nvmlSystemGetCudaDriverVersion_v2(ctypes.byref(cuda)) == 0 and cuda.value == 12080
    pci = Pci()
    assert ctypes.sizeof(Pci) == 68
    assert lib.nvmlDeviceGetPciInfo_v3(handle, ctypes.byref(pci)) == 0
    assert (pci.legacy, pci.bus_id, pci.bus) == (b"0000:02:00.0", b"00000000:02:00.0", 2)


def test_handle_by_uuid(lib):
    handle = ctypes.c_void_p()
    assert lib.nvmlDeviceGetHandleByUUID(C.encode(), ctypes.byref(handle)) == 0
    assert handle.value == handle_of(lib, 2).value
    assert lib.nvmlDeviceGetHandleByUUID(b"GPU-x", ctypes.byref(handle)) == 6  # NOT_FOUND
    assert lib.nvmlErrorString(6) == b"Not Found"


def test_memory_in_both_versions(lib, topology):
    topology([nvml.device(A, 0, memory_mib=1000, reserved_mib=100, used_mib=200)])
    mib = 1 << 20
    one, two = Memory(), MemoryV2(version=0x2000028)
    assert lib.nvmlDeviceGetMemoryInfo(handle_of(lib), ctypes.byref(one)) == 0
    assert (one.total, one.free, one.used) == (1000 * mib, 700 * mib, 300 * mib)
    assert lib.nvmlDeviceGetMemoryInfo_v2(handle_of(lib), ctypes.byref(two)) == 0
    assert (two.total, two.reserved, two.free, two.used) == (
        1000 * mib, 100 * mib, 700 * mib, 200 * mib)
    two.version = 1
    assert lib.nvmlDeviceGetMemoryInfo_v2(handle_of(lib), ctypes.byref(two)) == 25


def test_mig_and_utilization(lib, topology):
    topology([nvml.device(A, 0, mig="1 0", busy="37 12")])
    now, later = ctypes.c_uint(9), ctypes.c_uint(9)
    assert lib.nvmlDeviceGetMigMode(handle_of(lib), ctypes.byref(now), ctypes.byref(later)) == 0
    assert (now.value, later.value) == (1, 0)
    use = (ctypes.c_uint * 2)()
    assert lib.nvmlDeviceGetUtilizationRates(handle_of(lib), use) == 0 and list(use) == [37, 12]
    topology([nvml.device(A, 0, mig="unsupported")])
    assert lib.nvmlDeviceGetMigMode(handle_of(lib), ctypes.byref(now), ctypes.byref(later)) == 3


def test_processes_and_their_room(lib, topology):
    topology([nvml.device(A, 0, process=["compute 10 100", "compute 11 50", "mps 12 7"])])
    rows, count = (Process * 4)(), ctypes.c_uint(1)
    call = lib.nvmlDeviceGetComputeRunningProcesses_v3
    assert call(handle_of(lib), ctypes.byref(count), rows) == 7 and count.value == 2
    count.value = 4
    assert call(handle_of(lib), ctypes.byref(count), rows) == 0 and count.value == 2
    assert [(rows[i].pid, rows[i].used >> 20) for i in range(2)] == [(10, 100), (11, 50)]
    assert rows[0].gi == 0xFFFFFFFF


def test_rules_are_read_at_each_call(lib, topology):
    handle, text = handle_of(lib), ctypes.create_string_buffer(96)
    assert lib.nvmlDeviceGetUUID(handle, text, 96) == 0
    lost = nvml.device(A, 0)
    lost["return"] = "nvmlDeviceGetUUID 15"
    topology([lost, nvml.device(B, 1)])
    assert lib.nvmlDeviceGetUUID(handle, text, 96) == 15
    assert lib.nvmlDeviceGetUUID(handle_of(lib, 1), text, 96) == 0
    topology([nvml.device(B, 1)], rules=["return nvmlDeviceGetCount_v2 999"])
    assert lib.nvmlDeviceGetCount_v2(ctypes.byref(ctypes.c_uint())) == 999


def test_two_devices_may_report_one_uuid(topology):
    path = topology([nvml.device(A, 0), nvml.device(B, 1, report_uuid=A)])
    assert seen(path, B)["uuids"] == [A]


def test_without_driver_or_init(topology, monkeypatch):
    topology(rules=["return nvmlInit_v2 18"])
    loaded = ctypes.CDLL(nvml.library())
    assert loaded.nvmlDeviceGetCount_v2(ctypes.byref(ctypes.c_uint())) == 1  # UNINITIALIZED
    assert loaded.nvmlInit_v2() == 18
    monkeypatch.setenv("FAKE_NVML_TOPOLOGY", "/nonexistent")
    assert loaded.nvmlInit_v2() == 9  # DRIVER_NOT_LOADED
    assert loaded.nvmlShutdown() == 1
