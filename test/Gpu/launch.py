"""Launches recorded kernels (test/Unit/Target/KernelRecord.h) by the driver's own library, one by one, and compares what they
write with what was emulated. Nothing but Python's own library.
"""
import array
import contextlib
import ctypes
import json
import lzma
import math
import os

MOST_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
#: By how much of the largest value an element may differ: twice what the emulated one may differ from the interpreter's.
MAY_DIFFER = {"f32": 2e-5, "bf16": 1 / 64}


class Driver:
    """libcuda with a context of the first GPU. A call that fails raises RuntimeError with the driver's words."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self("cuDeviceGet", ctypes.byref(device), 0)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self("cuCtxSetCurrent", context)
        self.stream = ctypes.c_void_p()
        self("cuStreamCreateWithPriority", ctypes.byref(self.stream), 1, 0)  # CU_STREAM_NON_BLOCKING

    def __call__(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code:
            text = ctypes.c_char_p()
            self.library.cuGetErrorString(code, ctypes.byref(text))
            raise RuntimeError(f"{name}: {(text.value or b'?').decode()} ({code})")

    def load(self, text):
        """A module of PTX; why not, in the words of the driver's compiler."""
        module, log = ctypes.c_void_p(), ctypes.create_string_buffer(4096)
        options = (ctypes.c_int * 2)(5, 6)  # CU_JIT_ERROR_LOG_BUFFER, _SIZE_BYTES
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
        try:
            self("cuModuleLoadDataEx", ctypes.byref(module), text, 2, options, values)
        except RuntimeError as error:
            raise RuntimeError(f"{error} {log.value.decode()}") from error
        return module

    def finish(self):
        self("cuStreamSynchronize", self.stream)

    @contextlib.contextmanager
    def pinned(self, size):
        """Memory of the host that the device copies from and to."""
        place = ctypes.c_void_p()
        self("cuMemHostAlloc", ctypes.byref(place), ctypes.c_size_t(max(size, 1)), 0)
        yield place
        self("cuMemFreeHost", place)

    def allocate(self, size, contents=None):
        """Device memory with contents, else with bytes that are no number."""
        address = ctypes.c_uint64()
        self("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
        if contents is None:
            self("cuMemsetD8Async", address, 0xFF, ctypes.c_size_t(size), self.stream)
            return address
        with self.pinned(size) as place:
            ctypes.memmove(place, bytes(contents), size)
            self("cuMemcpyAsync", address, place, ctypes.c_size_t(size), self.stream)
            self.finish()
        return address

    def read(self, address, size):
        with self.pinned(size) as place:
            self("cuMemcpyAsync", place, address, ctypes.c_size_t(size), self.stream)
            self.finish()
            return ctypes.string_at(place, size)

    def launch(self, module, launch, addresses):
        kernel = ctypes.c_void_p()
        self("cuModuleGetFunction", ctypes.byref(kernel), module, launch["kernel"].encode())
        if launch["shared"] > 48 << 10:
            self("cuFuncSetAttribute", kernel, MOST_SHARED, launch["shared"])
        parameters = (ctypes.c_void_p * len(addresses))(*(ctypes.addressof(address) for address in addresses))
        self("cuLaunchKernel", kernel, *launch["grid"], *launch["block"], launch["shared"], self.stream, parameters,
             None)

    def time(self, count, work):
        """Seconds of each of so many times, by the device's clock."""
        events = [ctypes.c_void_p() for _ in range(2)]
        for event in events:
            self("cuEventCreate", ctypes.byref(event), 0)
        self("cuEventRecord", events[0], self.stream)
        for _ in range(count):
            work()
        self("cuEventRecord", events[1], self.stream)
        self.finish()
        elapsed = ctypes.c_float()
        self("cuEventElapsedTime", ctypes.byref(elapsed), *events)
        for event in events:
            self("cuEventDestroy_v2", event)
        return elapsed.value / 1000 / count


class Record:
    """The kernels of a folder that prepare.sh has made."""

    def __init__(self, folder):
        self.folder = folder
        with open(os.path.join(folder, "kernels.json"), encoding="utf-8") as file:
            record = json.load(file)
        self.cases, self.files = record["cases"], record["modules"]
        with lzma.open(os.path.join(folder, "kernels.bin.xz")) as file:
            self.bytes = memoryview(file.read())
        self.modules = {}

    def module(self, driver, number):
        if number not in self.modules:
            with open(os.path.join(self.folder, self.files[number]), "rb") as file:
                self.modules[number] = driver.load(file.read() + b"\0")
        return self.modules[number]

    def contents(self, operand):
        return self.bytes[operand["at"]:operand["at"] + operand["bytes"]]

    @contextlib.contextmanager
    def memory(self, driver, case):
        """Addresses of a case's operands, and of coordinates."""
        addresses = [driver.allocate(operand["bytes"], self.contents(operand) if operand["kind"] == "in" else None)
                     for operand in case["operands"]]
        coords = array.array("i", case["coords"]).tobytes()
        coords = driver.allocate(len(coords), coords)
        yield addresses, coords
        for address in [*addresses, coords]:
            driver("cuMemFree_v2", address)

    def launch(self, driver, case, addresses, coords):
        module = self.module(driver, case["module"])
        for launch in case["launches"]:
            given = [addresses[operand] for operand in launch["operands"]]
            driver.launch(module, launch, given + [coords] * launch["coords"])

    def run(self, driver, case):
        """How far each output is from the emulated one, by how far it may be; above 1 is wrong."""
        with self.memory(driver, case) as (addresses, coords):
            self.launch(driver, case, addresses, coords)
            driver.finish()
            return [compare(operand["type"], self.contents(operand), driver.read(address, operand["bytes"]),
                            2 * case.get("slack", 0))
                    for operand, address in zip(case["operands"], addresses) if operand["kind"] == "out"]

    def time(self, driver, case, count=20):
        """Seconds of all launches of a case, in turns: the least of three."""
        with self.memory(driver, case) as (addresses, coords):
            def launch():
                self.launch(driver, case, addresses, coords)
            driver.time(2, launch)
            return min(driver.time(count, launch) for _ in range(3))


def numbers(kind, contents):
    """Of f32 or bf16."""
    if kind == "f32":
        return array.array("f", bytes(contents))
    wide = bytearray(2 * len(contents))
    wide[2::4], wide[3::4] = contents[0::2], contents[1::2]
    return array.array("f", bytes(wide))


def compare(kind, expected, actual, slack=0.0):
    """The largest difference of two tensors by what it may be, in f32 with `slack` beside. Integers are equal or infinitely
    far apart."""
    if bytes(expected) == actual:
        return 0.0
    if kind not in MAY_DIFFER:
        return math.inf
    worst = 0.0
    for a, b in zip(numbers(kind, expected), numbers(kind, actual)):
        if a == b or (a != a and b != b):  # infinities, NaN
            continue
        if not abs(a - b) < math.inf:
            return math.inf
        worst = max(worst, abs(a - b))
    largest = max((abs(a) for a in numbers(kind, expected) if abs(a) < math.inf), default=0)
    may = largest * MAY_DIFFER[kind] + (slack if kind == "f32" else 0)
    return worst / may if may else math.inf if worst else 0.0
