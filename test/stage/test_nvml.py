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


class OldProcess(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("used", ctypes.c_ulonglong)]


class Sample(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("at", ctypes.c_ulonglong), ("sm", ctypes.c_uint),
                ("memory", ctypes.c_uint), ("encoder", ctypes.c_uint), ("decoder", ctypes.c_uint)]


class Field(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint), ("scope", ctypes.c_uint), ("at", ctypes.c_longlong),
                ("latency", ctypes.c_longlong), ("type", ctypes.c_int), ("code", ctypes.c_int),
                ("value", ctypes.c_ulonglong)]


class Metric(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint), ("code", ctypes.c_int), ("value", ctypes.c_double),
                ("names", ctypes.c_void_p * 3)]


class Metrics(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint), ("count", ctypes.c_uint), ("one", ctypes.c_void_p),
                ("two", ctypes.c_void_p), ("metrics", Metric * 98)]


class Event(ctypes.Structure):
    _fields_ = [("device", ctypes.c_void_p), ("type", ctypes.c_ulonglong),
                ("data", ctypes.c_ulonglong), ("gi", ctypes.c_uint), ("ci", ctypes.c_uint)]


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


def number(lib, call, *arguments, type_=ctypes.c_uint):
    """What a call that fills one number says, or minus its return code."""
    value = type_()
    code = getattr(lib, call)(handle_of(lib), *arguments, ctypes.byref(value))
    return value.value if code == 0 else -code


def used(lib, after=0, room=8):
    """Rows of utilisation newer than that, as (pid, sm, memory), or the return code."""
    rows, count = (Sample * room)(), ctypes.c_uint(room)
    code = lib.nvmlDeviceGetProcessUtilization(handle_of(lib), rows, ctypes.byref(count),
                                               ctypes.c_ulonglong(after))
    return [(row.pid, row.sm, row.memory) for row in rows[:count.value]] if code == 0 else code


def seen(path, visible, **given):
    """What a fresh process with NVIDIA_VISIBLE_DEVICES=visible sees; None leaves it unset."""
    env = dict(os.environ, FAKE_NVML_TOPOLOGY=path, **given)
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


def test_what_a_played_node_gave_is_not_read_again(topology):
    assert seen(topology(), "void", FAKE_NVML_GIVEN="%s,%s" % (A, C))["uuids"] == [A, C]
    assert seen(topology(), A, FAKE_NVML_GIVEN="")["uuids"] == []


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
    topology([nvml.device(A, 0, mig="1 0", busy="37 12", use="10 50")])
    now, later = ctypes.c_uint(9), ctypes.c_uint(9)
    assert lib.nvmlDeviceGetMigMode(handle_of(lib), ctypes.byref(now), ctypes.byref(later)) == 0
    assert (now.value, later.value) == (1, 0)
    use = (ctypes.c_uint * 2)()
    assert lib.nvmlDeviceGetUtilizationRates(handle_of(lib), use) == 3
    assert used(lib) == 3
    topology([nvml.device(A, 0, mig="unsupported", busy="37 12")])
    assert lib.nvmlDeviceGetUtilizationRates(handle_of(lib), use) == 0 and list(use) == [37, 12]
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


def test_a_list_may_grow_while_it_is_read(lib, topology):
    topology([nvml.device(A, 0, process="compute 10 100",
                          grow="nvmlDeviceGetComputeRunningProcesses_v3 2")])
    rows, count = (Process * 4)(), ctypes.c_uint(1)
    call = lib.nvmlDeviceGetComputeRunningProcesses_v3
    assert call(handle_of(lib), ctypes.byref(count), rows) == 7 and count.value == 2
    assert call(handle_of(lib), ctypes.byref(count), rows) == 7 and count.value == 3
    assert call(handle_of(lib), ctypes.byref(count), rows) == 0 and count.value == 1


@pytest.mark.parametrize("driver, missing", [
    (2, ["nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetMemoryInfo_v2",
         "nvmlGpmSampleGet"]),
    (1, ["nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2",
         "nvmlDeviceGetMPSComputeRunningProcesses_v2", "nvmlDeviceGetRemappedRows"])])
def test_older_drivers(topology, driver, missing):
    topology([nvml.device(A, 0, process=["compute 10 100", "compute 11 unknown"])])
    old = ctypes.CDLL(nvml.library(driver))
    assert old.nvmlInit_v2() == 0
    assert not any(hasattr(old, name) for name in missing)
    # An entry of the first version has 16 bytes; what lies behind them is not touched.
    rows, count = (OldProcess * 3)(), ctypes.c_uint(2)
    rows[2].pid, rows[2].used = 0xCAFE, 0xCAFE
    call = old.nvmlDeviceGetComputeRunningProcesses
    assert call(handle_of(old), ctypes.byref(count), rows) == 0 and count.value == 2
    assert [(row.pid, row.used) for row in rows] == [
        (10, 100 << 20), (11, 2 ** 64 - 1), (0xCAFE, 0xCAFE)]


def test_utilisation_of_processes(lib, topology):
    count = ctypes.c_uint()
    sizing = lib.nvmlDeviceGetProcessUtilization
    assert sizing(handle_of(lib), None, ctypes.byref(count), ctypes.c_ulonglong(0)) == 7
    assert count.value == 100
    assert used(lib) == 6  # NOT_FOUND: nobody ran
    topology([nvml.device(A, 0, sample=["1000 10 50 20", "2000 11 30", "2000 12 0"])])
    assert used(lib) == [(10, 50, 20), (11, 30, 0)]
    assert used(lib, after=1000) == [(11, 30, 0)]
    assert used(lib, after=2000) == 6
    assert used(lib, room=1) == 7
    topology([nvml.device(A, 0, garbage=2, use="10 25 5 1 2")])
    assert used(lib) == [(0, 2147483632, 3452816845)] * 2 + [(10, 25, 5)]


def test_what_a_device_measures(lib, topology):
    topology([nvml.device(A, 0, temperature=61, power_mw=350123, energy_mj=2 ** 40, encoder=7,
                          decoder="unsupported", ecc_uncorrected=3, remapped="1 2 1 0")])
    assert number(lib, "nvmlDeviceGetTemperature", 0) == 61
    assert number(lib, "nvmlDeviceGetPowerUsage") == 350123
    assert number(lib, "nvmlDeviceGetTotalEnergyConsumption", type_=ctypes.c_ulonglong) == 2 ** 40
    assert [number(lib, "nvmlDeviceGetClockInfo", which) for which in (1, 2)] == [1980, 2619]
    assert number(lib, "nvmlDeviceGetPcieReplayCounter") == 0
    use, period = ctypes.c_uint(), ctypes.c_uint()
    call = lib.nvmlDeviceGetEncoderUtilization
    assert call(handle_of(lib), ctypes.byref(use), ctypes.byref(period)) == 0 and use.value == 7
    call = lib.nvmlDeviceGetDecoderUtilization
    assert call(handle_of(lib), ctypes.byref(use), ctypes.byref(period)) == 3
    assert number(lib, "nvmlDeviceGetTotalEccErrors", 1, 0, type_=ctypes.c_ulonglong) == 3
    rows = [ctypes.c_uint() for _ in range(4)]
    assert lib.nvmlDeviceGetRemappedRows(handle_of(lib), *map(ctypes.byref, rows)) == 0
    assert [row.value for row in rows] == [1, 2, 1, 0]
    fields = (Field * 2)(Field(id=82), Field(id=1))
    assert lib.nvmlDeviceGetFieldValues(handle_of(lib), 2, fields) == 0
    assert [(field.code, field.value) for field in fields] == [(0, 42), (3, 0)]


def test_gpm(lib, topology):
    topology([nvml.device(A, 0, gpm="40 30.5 20 10 5 100 200")])
    metrics = Metrics(version=1, count=3)
    for name in ("one", "two"):
        sample = ctypes.c_void_p()
        assert lib.nvmlGpmSampleAlloc(ctypes.byref(sample)) == 0
        setattr(metrics, name, sample)
    for i, id_ in enumerate((2, 21, 99)):
        metrics.metrics[i].id = id_
    assert lib.nvmlGpmSampleGet(handle_of(lib), ctypes.c_void_p(metrics.one)) == 0
    assert lib.nvmlGpmMetricsGet(ctypes.byref(metrics)) == 2  # the second one was not taken
    assert lib.nvmlGpmSampleGet(handle_of(lib), ctypes.c_void_p(metrics.two)) == 0
    assert lib.nvmlGpmMetricsGet(ctypes.byref(metrics)) == 0
    assert [(m.code, m.value) for m in metrics.metrics[:3]] == [(0, 30.5), (0, 200), (3, 0)]
    topology([nvml.device(A, 0, gpm="unsupported")])
    support = (ctypes.c_uint * 2)(1, 9)
    assert lib.nvmlGpmQueryDeviceSupport(handle_of(lib), support) == 0 and support[1] == 0
    assert lib.nvmlGpmSampleGet(handle_of(lib), ctypes.c_void_p(metrics.two)) == 3


def test_xids_since_they_were_asked_for(lib, topology):
    events, event = ctypes.c_void_p(), Event()
    topology([nvml.device(A, 0, xid=[13])])
    assert lib.nvmlEventSetCreate(ctypes.byref(events)) == 0
    assert lib.nvmlDeviceRegisterEvents(handle_of(lib), ctypes.c_ulonglong(8), events) == 0
    assert lib.nvmlEventSetWait_v2(events, ctypes.byref(event), 0) == 10  # TIMEOUT
    topology([nvml.device(A, 0, xid=[13, 79]), nvml.device(B, 1, xid=[48])])
    assert lib.nvmlEventSetWait_v2(events, ctypes.byref(event), 0) == 0
    assert (event.device, event.type, event.data) == (handle_of(lib).value, 8, 79)
    assert lib.nvmlEventSetWait_v2(events, ctypes.byref(event), 0) == 10
    assert lib.nvmlEventSetFree(events) == 0


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
