"""Calls in a process that has not imported NumPy, which takes as long to import as Python and hbc to start:
on memory that Python itself describes (arrays of `array` and ctypes, memoryviews, bytes), into outputs that
are given.

What is not served so, and what the code refuses, is left to `calls`.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hbc.cli.api.arguments import Parameters, Plan, arrays_in_outputs, plan_of
from hbc.cli.api.view import CPU, NAMES, View
from hbc.ir.ground.diag import ArgumentError
from hbc.ir.lang.types import DTYPES

if TYPE_CHECKING:
    from hbc.cli.api.library import Library
    from hbc.cli.compiled import Compiled

MOST_PLANS = 256  # forms of arguments that are remembered
_OTHERWISE = ("data_ptr", "__array_interface__", "__cuda_array_interface__", "__dlpack__")
# What letters of the struct module stand for, beside the size of an element.
_KINDS = (
    dict.fromkeys("bhilq", "int") | dict.fromkeys("BHILQ", "uint") | dict.fromkeys("efd", "float")
)
_STRIDED = 0x18  # PyBUF_STRIDES


class Unserved(Exception):
    """An argument is of a kind that `calls` may take."""


class _Buffer(ctypes.Structure):
    """Py_buffer: part of Python's stable ABI since 3.11."""

    _fields_ = [
        ("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p),
    ]  # fmt: skip


_get_buffer, _release = ctypes.pythonapi.PyObject_GetBuffer, ctypes.pythonapi.PyBuffer_Release
_get_buffer.argtypes = [ctypes.py_object, ctypes.POINTER(_Buffer), ctypes.c_int]
_release.argtypes, _release.restype = [ctypes.POINTER(_Buffer)], None


class BufferCalls:
    """What all such calls of one kernel share. `library` gives the code, compiled and loaded at first use."""

    def __init__(
        self, compiled: Compiled, settings: Mapping[str, str], library: Callable[[], Library]
    ) -> None:
        p = self._pipeline = compiled.chosen.pipeline
        self._settings, self._library = settings, library
        self._order = Parameters(p)
        self._outputs = tuple(o.name for o in p.outputs)
        halves = any(i.packed is not None for i in (*p.inputs, *p.outputs))
        self._serves = not (halves or p.in_place or compiled.chosen.on_gpu)
        self._plans: dict[Any, Plan] = {}

    def call(self, arrays: Sequence[Any], out: Any, named: Mapping[str, Any]) -> Any:
        """Runs the kernel; what it gives. None where `Calls` is to do it, and nothing was written."""
        if out is None or not self._serves:
            return None
        try:
            return self._called(arrays, out, named)
        except (ArgumentError, Unserved):
            return None

    def _called(self, arrays: Sequence[Any], out: Any, named: Mapping[str, Any]) -> Any:
        values, sizes = self._order.in_order(arrays, named)
        outs = arrays_in_outputs(self._outputs, out)
        given = dict(sizes)
        by_name: dict[str, View] = {}
        passed: list[Any] = []
        for value, name, (_, take, serves) in zip(
            values, self._order.at, self._order.each, strict=True
        ):
            if take is None:
                view = by_name[name] = buffer_view(value)
                passed.append(view.address)
            elif serves:
                given[name] = int(take(value))
            else:
                passed.append(take(value))
        results = [buffer_view(array) for array in outs]
        passed += [view.address for view in results]
        key = tuple(given.items()), *(_form(view) for view in (*by_name.values(), *results))
        plan = self._plans.get(key)
        if plan is None:
            inputs = [by_name.get(i.name) for i in self._pipeline.inputs]
            plan = plan_of(self._pipeline, self._settings, inputs, results, given, _as_it_is)
            if len(self._plans) >= MOST_PLANS:
                self._plans.clear()
            self._plans[key] = plan
        library = self._library()
        library.prepare_thread()
        if plan.call(library, passed, None):
            return None
        return outs[0] if len(outs) == 1 else dict(zip(self._outputs, outs, strict=True))


def _form(view: View) -> tuple[Any, ...]:
    return view.shape, view.strides, view.type_name, view.writable


def _as_it_is(view: Any, _: str) -> View:
    assert isinstance(view, View)
    return view


def buffer_view(array: Any) -> View:
    """The memory of an array that has the buffer protocol and nothing that says more; it cannot be resized as
    long as the view is held. Unserved for others, which `view_of` may take."""
    if any(hasattr(array, name) for name in _OTHERWISE):
        raise Unserved
    try:
        held = memoryview(array)
        seen = _Buffer()
        _get_buffer(held, ctypes.byref(seen), _STRIDED)
    except (TypeError, BufferError):
        raise Unserved from None
    address = seen.buf or 0
    _release(ctypes.byref(seen))
    order, letter = held.format[:-1], held.format[-1:]
    native = order in ("", "@", "=", "<" if sys.byteorder == "little" else ">")
    kind = "bool" if letter == "?" else f"{_KINDS.get(letter)}{held.itemsize * 8}"
    element = DTYPES.get(NAMES.get(kind, "")) if native else None
    if element is None or held.strides is None or held.shape is None:
        raise Unserved
    return View(address, held.shape, held.strides, element, kind, CPU, not held.readonly, held)
