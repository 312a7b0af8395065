"""Runs a host function on arrays that are only described, and records its launches; no driver and no GPU.

The launcher of cuTile Python itself derives the signature of each launch: it gets a driver that answers what
it asks, arrays that have an address and no memory, and is stopped where it would compile. A process of its
own runs this, with cuTile Python at hand; it imports nothing of this package.
"""
# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

import contextlib
import copy
import ctypes
import inspect
import re
import sys
import types
from collections.abc import Callable
from typing import Any

PROCESSORS = {"sm_80": 108, "sm_89": 128, "sm_90": 132, "sm_100": 148, "sm_120": 170}
"""Multiprocessors of a common GPU of each architecture: grids of persistent kernels depend on them."""
DRIVER = 13040
CAPABILITY = {75: 0, 76: 1}
"""Device attributes: which part of the compute capability each is."""
ADDRESS, ALIGNED = 1 << 36, 512
"""Arrays lie so far apart; what the host function allocates is aligned as by an allocator."""
ARRAY = re.compile(r"\b(\w+)\[([\d,\s]+)\](?:\(([\d,\s]+)\))?(?::(\d+))?")
TORCH = {
    "bool": "bool", "i8": "int8", "u8": "uint8", "i16": "int16", "i32": "int32", "i64": "int64",
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
    "f8e4m3fn": "float8_e4m3fn", "f8e5m2": "float8_e5m2",
}  # fmt: skip
TYPES = {torch: ours for ours, torch in TORCH.items()}
STAND_IN = {"bfloat16": "<f2", "float8_e4m3fn": "|u1", "float8_e5m2": "|u1"}
"""Types that an array interface cannot name: one of the same size, put back in the signature."""


class StoppedError(BaseException):
    """The launcher has the signature, and need not compile."""


class Driver:
    """What the launcher asks of a driver, answered for one GPU."""

    def __init__(self, capability: tuple[int, int]) -> None:
        self.capability = capability
        self._kept: list[Any] = []
        self._entry = ctypes.CFUNCTYPE(
            ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint64, ctypes.c_void_p
        )(self._find)
        self._holder = ctypes.c_void_p(ctypes.cast(self._entry, ctypes.c_void_p).value)

    def install(self) -> None:
        """In place of the module that loads the driver's library."""
        module = types.ModuleType("cuda.tile._load_libcuda")
        module.cuGetProcAddress_v2_ptrptr = ctypes.addressof(self._holder)
        sys.modules[module.__name__] = module

    def _find(self, name: bytes, where: int, version: int, flags: int, status: int | None) -> int:
        """`cuGetProcAddress_v2`."""
        words = [ctypes.c_void_p] * 6
        function = ctypes.CFUNCTYPE(ctypes.c_int, *words)(lambda *given: self._answer(name.decode(), given))
        self._kept.append(function)
        _store(where, ctypes.cast(function, ctypes.c_void_p).value or 0, ctypes.c_void_p)
        if status:
            _store(status, 0, ctypes.c_int)
        return 0

    def _answer(self, name: str, given: tuple[Any, ...]) -> int:
        answers = {"cuDriverGetVersion": DRIVER, "cuDeviceGetCount": 1, "cuDeviceGet": 0, "cuCtxGetDevice": 0}
        contexts = {"cuCtxGetCurrent": 0, "cuDevicePrimaryCtxRetain": 0, "cuStreamGetCtx": 1}
        if name in answers:
            _store(given[0], answers[name], ctypes.c_int)
        elif name in contexts:
            _store(given[contexts[name]], 1, ctypes.c_void_p)
        elif name == "cuDeviceGetAttribute":
            part = CAPABILITY.get(given[1] or 0)
            _store(given[0], 1 if part is None else self.capability[part], ctypes.c_int)
        return 0


def _store(where: int, value: int, kind: Any) -> None:
    ctypes.cast(where, ctypes.POINTER(kind))[0] = value


class Described:
    """An array that the launcher can look at: address, shape, strides, and a type of the same size."""

    def __init__(self, address: int, shape: tuple[int, ...], strides: tuple[int, ...], typestr: str) -> None:
        self.__cuda_array_interface__ = {
            "version": 3, "data": (address, False), "shape": shape, "strides": strides, "typestr": typestr,
        }  # fmt: skip


class Recorder:
    """Takes the place of `cuda.tile.launch`."""

    def __init__(self, arch: str, processors: int | None) -> None:
        digits = re.sub(r"\D", "", arch)
        self.capability = (int(digits[:-1]), int(digits[-1]))
        self.processors = processors or PROCESSORS[arch]
        self.launches: list[dict[str, Any]] = []
        self.first_chosen = 0
        self._addresses: dict[int, tuple[Any, int]] = {}
        self._driver = Driver(self.capability)
        self._signature: Any = None

    def install(self) -> None:
        """Before the host function's module is imported: it may take `launch` by name."""
        self._driver.install()
        import cuda.tile as ct
        import cuda.tile.tune

        self._launch = ct.launch
        ct.launch = self.launch
        ct.kernel._compile = self._compile
        cuda.tile.tune.exhaustive_search = self._first

    def launch(self, stream: Any, grid: Any, kernel: Any, args: Any, /, **options: Any) -> None:
        given = [self._described(each) for each in args]
        with contextlib.suppress(StoppedError):
            self._launch(0, grid, kernel, tuple(given), **options)
        assert self._signature is not None, "the launcher did not come to compile"
        names = list(inspect.signature(kernel._pyfunc).parameters)
        signature, self._signature = self._signature, None
        signature = copy.copy(signature)
        parameters = tuple(
            _typed(constraint, value) for constraint, value in zip(signature.parameters, args, strict=True)
        )
        object.__setattr__(signature, "parameters", parameters)
        sizes = [int(size) for size in grid]
        self.launches.append(
            {
                "kernel": kernel,
                "signature": signature.with_mangled_symbol(kernel._pyfunc.__name__),
                "grid": [*sizes, 1, 1][:3],
                "arguments": [
                    self._told(name, value, constraint)
                    for name, value, constraint in zip(names, args, parameters, strict=True)
                ],
            }
        )

    def _compile(self, signature: Any, *_: Any, **__: Any) -> Any:
        self._signature = signature
        raise StoppedError

    def _first(self, search_space: Any, *_: Any, **__: Any) -> Any:
        """There is nothing to measure: the first configuration is the best."""
        self.first_chosen += 1
        first = types.SimpleNamespace(config=next(iter(search_space)))
        return types.SimpleNamespace(best=first, successes=[first], failures=[])

    def _described(self, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(self._described(each) for each in value)
        if not hasattr(value, "untyped_storage"):
            return value
        size = value.element_size()
        name = str(value.dtype).removeprefix("torch.")
        kind = "f" if value.dtype.is_floating_point else "u" if name.startswith("u") else "i"
        typestr = STAND_IN.get(name, "|b1" if name == "bool" else f"{'|' if size == 1 else '<'}{kind}{size}")
        strides = tuple(stride * size for stride in value.stride())
        return Described(self._address(value), tuple(value.shape), strides, typestr)

    def _address(self, tensor: Any) -> int:
        base = self.place(tensor, ALIGNED)
        return base + tensor.storage_offset() * tensor.element_size()

    def place(self, tensor: Any, align: int) -> int:
        """The address of a tensor's storage: a multiple of `align`, and of no higher power of two."""
        storage = tensor.untyped_storage()
        if storage._cdata not in self._addresses:  # kept, so that no other one gets its number
            self._addresses[storage._cdata] = storage, (len(self._addresses) + 1) * ADDRESS + align
        return self._addresses[storage._cdata][1]

    def _told(self, name: str, value: Any, constraint: Any) -> dict[str, Any]:
        """One argument as the JSON beside a dump has it."""
        if hasattr(value, "untyped_storage"):
            address = self._address(value)
            storages = list(self._addresses)
            dtype = str(value.dtype).removeprefix("torch.")
            return {
                "name": name, "kind": "array", "dtype": TYPES.get(dtype, dtype), "shape": list(value.shape),
                "strides": list(value.stride()), "align": min(address & -address, ALIGNED),
                "memory": storages.index(value.untyped_storage()._cdata),
                "offset": value.storage_offset(), **facts(constraint),
            }  # fmt: skip
        kind = type(constraint).__name__.removesuffix("Constraint").lower()
        if kind == "scalar":
            dtype = constraint.dtype.name.removesuffix("_")
            return {"name": name, "kind": kind, "dtype": TYPES.get(dtype, dtype), "value": value}
        plain = value if isinstance(value, (int, float, str, bool, type(None))) else repr(value)
        return {"name": name, "kind": kind, "value": plain}


def facts(constraint: Any) -> dict[str, Any]:
    """What is promised of an array."""
    return {
        "index": "i64" if "64" in str(constraint.index_dtype) else "i32",
        "stride_constant": list(constraint.stride_constant),
        "stride_divisible_by": list(constraint.stride_divisible_by),
        "shape_constant": list(constraint.shape_constant),
        "shape_divisible_by": list(constraint.shape_divisible_by),
        "base_divisible_by": constraint.base_addr_divisible_by,
    }


def _typed(constraint: Any, value: Any) -> Any:
    """The constraint with the type that its array has."""
    import cuda.tile as ct

    if isinstance(value, (list, tuple)) and value:
        if hasattr(constraint, "items"):
            items = tuple(_typed(each, item) for each, item in zip(constraint.items, value, strict=True))
            return _with(constraint, "items", items)
        if hasattr(constraint, "element"):
            return _with(constraint, "element", _typed(constraint.element, value[0]))
    name = str(getattr(value, "dtype", "")).removeprefix("torch.")
    return _with(constraint, "dtype", getattr(ct, name)) if name in STAND_IN else constraint


def _with(constraint: Any, name: str, value: Any) -> Any:
    changed = copy.copy(constraint)
    object.__setattr__(changed, name, value)
    return changed


def record(load: Callable[[], Any], call: str, arch: str, processors: int | None) -> Recorder:
    """Runs `call`, an expression over names of the module in which arrays are written `f16[2048,4096]:16`."""
    recorder = Recorder(arch, processors)
    recorder.install()
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    loaded = load()
    with FakeTensorMode():
        _stand_in_for_cuda(torch, recorder)
        names = dict(vars(loaded))

        def array(found: re.Match[str]) -> str:
            dtype = getattr(torch, TORCH.get(found[1], ""), None)
            if dtype is None:
                return found[0]
            align = int(found[4] or 16)
            if align < 1 or align % dtype.itemsize:
                raise ValueError(f"no {found[1]} lies at a multiple of {align} bytes")
            name = f"_array{len(names)}"
            shape = _numbers(found[2])
            if found[3]:
                names[name] = torch.empty_strided(shape, _numbers(found[3]), dtype=dtype, device="cuda")
            else:
                names[name] = torch.empty(shape, dtype=dtype, device="cuda")
            recorder.place(names[name], align)
            return name

        code = ARRAY.sub(array, call)
        eval(compile(code, "--call", "eval"), names)
    return recorder


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(",") if part.strip())


def _stand_in_for_cuda(torch: Any, recorder: Recorder) -> None:
    """What host functions ask of torch about the GPU."""
    major, minor = recorder.capability
    properties = types.SimpleNamespace(
        name=f"sm_{major}{minor}", major=major, minor=minor, warp_size=32,
        multi_processor_count=recorder.processors,
    )  # fmt: skip
    stream = types.SimpleNamespace(cuda_stream=0, synchronize=lambda: None)
    torch.cuda.current_stream = lambda *_: stream
    torch.cuda.get_device_properties = lambda *_: properties
    torch.cuda.get_device_capability = lambda *_: recorder.capability
    torch.cuda.get_device_name = lambda *_: properties.name
    torch.cuda.current_device = lambda: 0
    torch.cuda.device_count = lambda: 1
    torch.cuda.synchronize = lambda *_: None
