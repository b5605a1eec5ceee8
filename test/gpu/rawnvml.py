"""NVML by ctypes, raw: what the driver itself says, with its return codes, so that our own reader is not the witness."""

import ctypes

SUCCESS, NOT_FOUND, INSUFFICIENT_SIZE = 0, 6, 7
NONE = 2 ** 64 - 1


class Process(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("memory", ctypes.c_ulonglong), ("gpu", ctypes.c_uint), ("compute", ctypes.c_uint)]


class Sample(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("time", ctypes.c_ulonglong), ("sm", ctypes.c_uint), ("memory", ctypes.c_uint),
                ("enc", ctypes.c_uint), ("dec", ctypes.c_uint)]


class Rates(ctypes.Structure):
    _fields_ = [("gpu", ctypes.c_uint), ("memory", ctypes.c_uint)]


class Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


class MemoryV2(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint), ("total", ctypes.c_ulonglong), ("reserved", ctypes.c_ulonglong),
                ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


class DeviceSample(ctypes.Structure):
    _fields_ = [("time", ctypes.c_ulonglong), ("value", ctypes.c_ulonglong)]


class NoGpu(Exception):
    """No library, no driver or no device; the text says which."""


class Device:
    """The first GPU."""

    LISTS = {"compute": "nvmlDeviceGetComputeRunningProcesses_v3", "mps": "nvmlDeviceGetMPSComputeRunningProcesses_v3",
             "graphics": "nvmlDeviceGetGraphicsRunningProcesses_v3"}

    def __init__(self, library="libnvidia-ml.so.1"):
        try:
            self.nvml = ctypes.CDLL(library)
        except OSError as error:
            raise NoGpu("no NVML: %s" % error) from error
        code = self.nvml.nvmlInit_v2()
        if code != SUCCESS:
            raise NoGpu("nvmlInit returned %d" % code)
        self.handle = ctypes.c_void_p()
        code = self.nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.handle))
        if code != SUCCESS:
            raise NoGpu("no device: %d" % code)
        self.last_seen = 0

    def text(self, call):
        buffer = ctypes.create_string_buffer(128)
        arguments = (self.handle, buffer, 128) if "Device" in call else (buffer, 128)
        return buffer.value.decode() if getattr(self.nvml, call)(*arguments) == SUCCESS else "?"

    def describe(self):
        return "%s, driver %s" % (self.text("nvmlDeviceGetName"), self.text("nvmlSystemGetDriverVersion"))

    def uuid(self):
        return self.text("nvmlDeviceGetUUID")

    def utilization(self):
        rates = Rates()
        code = self.nvml.nvmlDeviceGetUtilizationRates(self.handle, ctypes.byref(rates))
        return rates.gpu if code == SUCCESS else None

    def used_mib(self):
        memory = Memory()
        code = self.nvml.nvmlDeviceGetMemoryInfo(self.handle, ctypes.byref(memory))
        return memory.used >> 20 if code == SUCCESS else None

    def memory(self):
        """{name: bytes}, reserved apart from used; None where the driver does not tell."""
        memory = MemoryV2(version=ctypes.sizeof(MemoryV2) | 2 << 24)
        code = self.nvml.nvmlDeviceGetMemoryInfo_v2(self.handle, ctypes.byref(memory))
        return {name: getattr(memory, name) for name in ("total", "reserved", "free", "used")} if code == SUCCESS else None

    def number(self, call, *before, kind=ctypes.c_uint):
        """(return code, value) of a call that fills one number."""
        value = kind()
        return getattr(self.nvml, call)(self.handle, *before, ctypes.byref(value)), value.value

    def has(self, call):
        return hasattr(self.nvml, call)

    def compute_mode(self):
        code, mode = self.number("nvmlDeviceGetComputeMode", kind=ctypes.c_int)
        return mode if code == SUCCESS else None

    def figures(self):
        """{what the agent asks for: (return code, value)}."""
        large = ctypes.c_ulonglong
        two, four = [ctypes.c_uint() for _ in range(2)], [ctypes.c_uint() for _ in range(4)]
        found = {"minor": self.number("nvmlDeviceGetMinorNumber"),
                 "temperature": self.number("nvmlDeviceGetTemperature", 0),
                 "power mW": self.number("nvmlDeviceGetPowerUsage"),
                 "energy mJ": self.number("nvmlDeviceGetTotalEnergyConsumption", kind=large),
                 "SM clock": self.number("nvmlDeviceGetClockInfo", 1),
                 "memory clock": self.number("nvmlDeviceGetClockInfo", 2),
                 "PCIe replays": self.number("nvmlDeviceGetPcieReplayCounter"),
                 "ECC errors": self.number("nvmlDeviceGetTotalEccErrors", 1, 0, kind=large),
                 "compute mode": self.number("nvmlDeviceGetComputeMode", kind=ctypes.c_int)}
        for name, call, values in (("MIG", "nvmlDeviceGetMigMode", two), ("encoder", "nvmlDeviceGetEncoderUtilization", two),
                                   ("decoder", "nvmlDeviceGetDecoderUtilization", two),
                                   ("remapped rows", "nvmlDeviceGetRemappedRows", four),
                                   ("GPM", "nvmlGpmQueryDeviceSupport", None)):
            if values is None:
                values = (ctypes.c_uint * 2)(1, 9)
                code = getattr(self.nvml, call)(self.handle, values)
                found[name] = (code, values[1])
            else:
                code = getattr(self.nvml, call)(self.handle, *map(ctypes.byref, values))
                found[name] = (code, [value.value for value in values])
        return found

    def device_samples(self, since=0):
        """(return code, [(time in us, percent)]) that the driver keeps of the device's use."""
        kind, count = ctypes.c_int(), ctypes.c_uint(1024)
        rows = (DeviceSample * count.value)()
        code = self.nvml.nvmlDeviceGetSamples(self.handle, 1, ctypes.c_ulonglong(since), ctypes.byref(kind),
                                              ctypes.byref(count), rows)
        return code, [(row.time, row.value & 0xffffffff) for row in rows[:count.value]] if code == SUCCESS else []

    def processes(self, kind):
        """{pid: MiB or None}, or the return code where it is an error."""
        call = getattr(self.nvml, self.LISTS[kind])
        count = ctypes.c_uint(512)
        rows = (Process * count.value)()
        code = call(self.handle, ctypes.byref(count), rows)
        if code != SUCCESS:
            return code
        return {row.pid: None if row.memory == NONE else row.memory >> 20 for row in rows[:count.value]}

    def samples(self, since=None):
        """(return code, rows) of the process utilisation since a time stamp; the default: since the last call."""
        count = ctypes.c_uint(0)
        since = self.last_seen if since is None else since
        stamp = ctypes.c_ulonglong(since)
        call = self.nvml.nvmlDeviceGetProcessUtilization
        code = call(self.handle, None, ctypes.byref(count), stamp)
        sized = count.value
        if code not in (SUCCESS, INSUFFICIENT_SIZE):
            return code, [], sized
        count = ctypes.c_uint(sized + 64)
        rows = (Sample * count.value)()
        code = call(self.handle, rows, ctypes.byref(count), stamp)
        found = list(rows[:count.value]) if code == SUCCESS else []
        self.last_seen = max([self.last_seen] + [row.time for row in found if row.sm <= 100])
        return code, found, sized
