"""Arrays of any library as the compiled code takes them: an address, a shape and strides, no copy.

NumPy arrays; anything with `data_ptr` (torch tensors), `__cuda_array_interface__` (CuPy, Numba) or
`__array_interface__`; anything else that speaks DLPack, or has the buffer protocol. The strides are
those of the array: rows may lie apart, elements of a row may not.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from hbc.cli.api.dlpack import OnGpu, opened
from hbc.cli.api.view import CPU, NAMES, View
from hbc.codegen.build.gpu import device_of, gpu_count
from hbc.ir.ground.diag import ArgumentError, Diagnostic
from hbc.ir.lang.types import DTYPES, DType
from hbc.ir.meaning.numpy_types import element_of, numpy_dtype

Array = np.ndarray[Any, Any]


def view_of(array: Any, what: str) -> View:
    """The array's memory. ArgumentError when it is none, or lies on a device of another kind."""
    if hasattr(array, "data_ptr") and callable(getattr(array, "stride", None)):
        return _of_tensor(array, what)
    if hasattr(array, "__cuda_array_interface__"):
        interface = array.__cuda_array_interface__
        return _of_interface(interface, _cuda_device(array, interface), what)
    if hasattr(array, "filled") and hasattr(array, "mask"):
        raise ArgumentError(Diagnostic(f"{what} is a masked array", hint="pass array.filled(...)"))
    if hasattr(array, "__array_interface__"):
        return _of_interface(array.__array_interface__, CPU, what, getattr(array, "dtype", None))
    if hasattr(array, "__dlpack__"):
        return _of_dlpack(array, what)
    return _of_buffer(array, what)


_BEHIND_HEAD = object.__basicsize__


def _in_the_struct(array: Array) -> int:
    """Where an array's elements begin: the first field behind the head of PyArrayObject (NumPy's C API,
    ndarraytypes.h), read in a seventh of the time that `__array_interface__` takes."""
    return ctypes.c_void_p.from_address(id(array) + _BEHIND_HEAD).value or 0


def _by_interface(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def _is_in_the_struct() -> bool:
    """Whether this Python and this NumPy have it there."""
    whole = np.arange(6, dtype=np.int16)
    examples = whole, whole[2:], whole.reshape(2, 3)[1:, 1:], np.array(7.0)
    return all(_in_the_struct(a) == _by_interface(a) for a in examples)


place: Callable[[Array], int] = _in_the_struct if _is_in_the_struct() else _by_interface
"""Where the elements of a NumPy array begin."""


def address_of(array: Any) -> int:
    """Where the first element of an array lies that `view_of` has taken before."""
    return place(array) if type(array) is np.ndarray else view_of(array, "").address


def copy_values(array: Any, to: Any, device: str) -> None:
    """Copies an array to another of the same shape and elements, both as `view_of` takes them."""
    if device != CPU:
        to[...] = array
        return
    there, here = view_of(to, ""), view_of(array, "")
    if (there.address, there.strides) != (here.address, here.strides):
        _as_bytes(there)[...] = _as_bytes(here)


def _as_bytes(view: View) -> Array:
    """Its elements as groups of bytes, in the memory where they lie."""
    assert view.element is not None
    size = view.element.bytes
    reach = sum((n - 1) * s for n, s in zip(view.shape, view.strides, strict=True)) + size
    length = 0 if 0 in view.shape else reach
    memory = memoryview((ctypes.c_char * length).from_address(view.address))
    kind = np.dtype((np.void, size))
    return np.ndarray(view.shape, kind, memory, 0, view.strides if length else None)


def like(example: Any, shape: tuple[int, ...], element: DType) -> Any:
    """A new array of the kind of `example` (its library, its device), not initialized."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(example, torch.Tensor):
        names = {short: long for long, short in reversed(NAMES.items())}
        return torch.empty(shape, dtype=getattr(torch, names[element.name]), device=example.device)
    cupy = sys.modules.get("cupy")
    if cupy is not None and isinstance(example, cupy.ndarray):
        with example.device:
            return cupy.empty(shape, numpy_dtype(element))
    return np.empty(shape, numpy_dtype(element))


def _of_tensor(tensor: Any, what: str) -> View:
    """A torch tensor, or what looks like one."""
    name = str(tensor.dtype).removeprefix("torch.")
    element = DTYPES.get(NAMES.get(name, ""))
    device = str(getattr(tensor, "device", CPU))
    layout = str(getattr(tensor, "layout", "torch.strided")).removeprefix("torch.")
    if layout != "strided":
        raise ArgumentError(
            Diagnostic(f"{what} is sparse ({layout})", hint="pass tensor.to_dense()")
        )
    if getattr(tensor, "is_neg", bool)():  # a view whose elements are negated where they are read
        raise ArgumentError(
            Diagnostic(f"{what} is a view of negated elements", hint="pass tensor.resolve_neg()")
        )
    if getattr(tensor, "requires_grad", False) and not getattr(tensor, "is_leaf", True):
        raise ArgumentError(
            Diagnostic(
                f"{what} is part of an autograd graph, which the kernel is not",
                hint="pass tensor.detach(), or wrap the kernel in a torch.autograd.Function",
            )
        )
    size = element.bytes if element is not None else 1
    strides = tuple(s * size for s in tensor.stride())
    shape = tuple(int(n) for n in tensor.shape)
    return View(tensor.data_ptr(), shape, strides, element, name, _device(device), True)


def _device(name: str) -> str:
    return "cuda:0" if name == "cuda" else name


def _cuda_device(array: Any, interface: dict[str, Any]) -> str:
    """As the array says (CuPy); the interface does not, and then the driver does, where there are several."""
    device = getattr(array, "device", None)
    number = getattr(device, "id", device)
    if not isinstance(number, int):
        number = device_of(int((interface["data"] or (0,))[0])) if gpu_count() > 1 else 0
    return f"cuda:{number}"


def _of_interface(interface: dict[str, Any], device: str, what: str, dtype: Any = None) -> View:
    """`__array_interface__` and `__cuda_array_interface__`, version 3 (NumPy's and Numba's manuals)."""
    address, read_only = interface["data"] or (0, False)
    # bf16 is a raw type to the interface; the array's own dtype knows better.
    own = isinstance(dtype, np.dtype)
    element, size, name = _meaning(dtype if own else np.dtype(interface["typestr"]))
    shape = interface["shape"]
    strides = interface.get("strides") or _dense_strides(shape, size)
    return View(int(address), tuple(shape), tuple(strides), element, name, device, not read_only)


def _of_numpy(array: Array) -> View:
    """What another library shows as an array of NumPy's."""
    element, _, name = _meaning(array.dtype)
    writable = array.flags.writeable
    return View(place(array), array.shape, array.strides, element, name, CPU, writable, array)


@cache
def _meaning(dtype: np.dtype[Any]) -> tuple[DType | None, int, str]:
    """The element type, if the language has it; bytes; and what to call it."""
    native = dtype.newbyteorder("=") == dtype and dtype.isnative
    return element_of(dtype) if native else None, dtype.itemsize, str(dtype)


def _of_dlpack(array: Any, what: str) -> View:
    held = opened(array, what)
    if not isinstance(held, OnGpu):
        return _of_numpy(held)
    element = DTYPES.get(NAMES.get(held.kind, ""))
    size = element.bytes if element is not None else 1
    strides = held.strides or _dense_strides(held.shape, 1)
    strides = tuple(s * size for s in strides)
    return View(
        held.address, held.shape, strides, element, held.kind, held.device, True, held.capsule
    )


def _of_buffer(array: Any, what: str) -> View:
    """What has the buffer protocol (PEP 3118): array.array, memoryview, arrays of ctypes. It cannot be
    resized as long as the view is held."""
    name = type(array).__name__
    article = "an" if name[0] in "aeiouAEIOU" else "a"
    try:
        return _of_numpy(np.asarray(memoryview(array)))
    except TypeError:
        pass
    except (ValueError, BufferError) as failure:
        said = f"{what} is {article} {name} whose memory NumPy cannot read: {failure}"
        raise ArgumentError(Diagnostic(said)) from None
    if isinstance(array, list | tuple):
        raise ArgumentError(
            Diagnostic(
                f"{what} is {article} {name}, no array",
                hint="make one of it: numpy.array(..., dtype), of the type that the kernel declares",
            )
        )
    raise ArgumentError(
        Diagnostic(
            f"{what} is {'None' if array is None else f'{article} {name}'}, no array",
            hint="pass a NumPy array, a torch tensor, or what has __dlpack__, __array_interface__ or the "
            "buffer protocol",
        )
    )


def _dense_strides(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    strides, step = [], size
    for length in reversed(shape):
        strides.append(step)
        step *= length
    return tuple(reversed(strides))
