"""Calls of a kernel: arguments in any order and of any kind, and the plan that is made once for their
forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hbc.cli.api.arguments import (
    Parameters,
    Plan,
    arrays_in_order,
    arrays_in_outputs,
    plan_of,
    texts_of,
)
from hbc.cli.api.arrays import copy_values, like, place, view_of
from hbc.cli.api.int4 import Shapes, in_bytes
from hbc.cli.api.misaligned import on_copies
from hbc.cli.api.packed import Packed, call_packed
from hbc.cli.api.ready import Ready
from hbc.cli.api.seen import seen
from hbc.cli.api.view import CPU
from hbc.codegen.c.codes import ALIGN, code_kind
from hbc.ir.ground.diag import ArgumentError, Diagnostic
from hbc.ir.lang.target import GPU
from hbc.ir.meaning.numpy_types import numpy_dtype

if TYPE_CHECKING:
    from hbc.cli.api.library import Library
    from hbc.cli.compiled import Compiled

MOST_PLANS = 256  # forms of arguments that are remembered


class Calls:
    """What all calls of one kernel share. `library` gives the code, compiled and loaded at first use."""

    def __init__(
        self, compiled: Compiled, settings: Mapping[str, str], library: Callable[[], Library]
    ) -> None:
        p = compiled.chosen.pipeline
        self._compiled, self._settings, self._library = compiled, settings, library
        self._order = Parameters(p)
        self._parameters, self._sizes, at_of = self._order.each, self._order.sizes, self._order.at
        self._outputs = tuple(o.name for o in p.outputs)
        # Of each output in the place of an input: its number, and that of the input among the parameters.
        self._in_place = [(n, at_of[o.aliases]) for n, o in enumerate(p.outputs) if o.aliases]
        overwritten = {at for _, at in self._in_place}
        passed = [at for at, (_, _, serves) in enumerate(self._parameters) if not serves]
        self._left_out = [n for n, at in enumerate(passed) if at in overwritten][::-1]
        self._out_names = [f"`{name}`" for name in self._outputs]
        self._packed = any(i.packed is not None for i in p.inputs)
        self._plans: dict[Any, Plan] = {}
        alone = len(self._outputs) == 1 and not self._in_place
        plain = all(take is None for _, take, _ in self._parameters)
        self._ready = Ready() if alone and plain and not self._packed else None

    def call(
        self, arrays: Sequence[Any], out: Any, stream: int | None, named: Mapping[str, Any]
    ) -> Any:
        """Runs the kernel; what it gives. Errors as `Kernel.__call__`."""
        ready = None if named or stream is not None else self._ready
        if ready is not None and (done := ready.call(arrays, out)) is not None:
            return done
        shapes: Shapes = {}
        if self._packed:
            arrays, named, shapes = in_bytes(self._compiled.chosen.pipeline, arrays, named)
        values, sizes = self._order.in_order(arrays, named)
        copies = self._in_place if out is not None else ()
        if self._in_place and out is None:
            out = self._overwritten(values, arrays, named, shapes, stream)
        key: list[Any] = [sizes, stream is None, tuple(shapes.items())]
        passed: list[Any] = []
        held: list[Any] = []  # what must live until the code returns
        for value, (what, take, serves) in zip(values, self._parameters, strict=True):
            if type(value) is np.ndarray and take is None:  # as `seen`, which others are
                key.append((value.shape, value.strides, value.dtype))
                passed.append(place(value))
            elif take is None:
                form, address, holder = seen(value, what)
                key.append(form)
                passed.append(address)
                held.append(holder)
            elif serves:
                key.append(int(value) if take(value) is not None else None)
            else:
                passed.append(take(value))
        for at in self._left_out:
            del passed[at]
        if type(out) is np.ndarray and len(self._outputs) == 1:
            outs: Sequence[Any] = (out,)
        else:
            outs = arrays_in_outputs(self._outputs, out)
        for array, what in zip(outs, self._out_names, strict=False):
            if type(array) is np.ndarray:
                key += ((array.shape, array.strides, array.dtype), array.flags.writeable)
                passed.append(place(array))
            else:
                form, address, holder = seen(array, what)
                key.append(form)
                passed.append(address)
                held.append(holder)
        known = tuple(key)
        plan = self._plans.get(known)
        if plan is None:
            plan = self._planned(arrays, named, shapes, outs, stream)
            if len(self._plans) >= MOST_PLANS:
                self._plans.clear()
            self._plans[known] = plan
        for number, at in copies:
            copy_values(values[at], outs[number], plan.device)
        result = self._run(plan, values, passed, outs, stream)
        if ready is not None:
            ready.note(arrays, out, plan, self._library())
        return result

    def _overwritten(
        self, values: Sequence[Any], arrays: Sequence[Any], named: Mapping[str, Any], shapes: Shapes,
        stream: int | None,
    ) -> list[Any]:  # fmt: skip
        """The outputs of a call without `out`: the inputs that are overwritten, new arrays for the rest."""
        outs: list[Any] = [None] * len(self._outputs)
        if len(self._in_place) < len(outs):
            outs = self._new(self._planned(arrays, named, shapes, (), stream), values)
        for number, at in self._in_place:
            outs[number] = values[at]
        return outs

    def _planned(
        self, arrays: Sequence[Any], named: Mapping[str, Any], shapes: Shapes, outs: Sequence[Any],
        stream: int | None,
    ) -> Plan:  # fmt: skip
        p = self._compiled.chosen.pipeline
        inputs, sizes = arrays_in_order(p, arrays, named)
        for image, a in zip(p.inputs, inputs, strict=True):
            if isinstance(a, Packed) and (a.kernel, a.name) != (p.name, image.name):
                raise ArgumentError(
                    Diagnostic(f"{a!r} stands where `{image.name}` of `{p.name}` is wanted")
                )
        plain = [a.array if isinstance(a, Packed) else a for a in inputs]
        plan = plan_of(p, self._settings, plain, outs, sizes, view_of, shapes)
        self._check_device(plan.device, stream)
        return plan

    def _check_device(self, device: str, stream: int | None) -> None:
        target = self._compiled.chosen.target.name
        if device == CPU and stream is not None:
            raise ArgumentError(Diagnostic("`stream` is for arrays in a GPU's memory"))
        if device != CPU and target != GPU:
            raise ArgumentError(
                Diagnostic(
                    f"the arrays lie on {device}, `{target}` code runs on the CPU",
                    hint='copy them to the CPU, or compile with target="cuda"',
                )
            )

    def _run(
        self, plan: Plan, values: Sequence[Any], passed: list[Any], outs: Sequence[Any], stream: int | None
    ) -> Any:  # fmt: skip
        library = self._library()
        if not outs:
            outs = self._new(plan, values)
            passed += [
                place(a) if type(a) is np.ndarray else seen(a, what)[1]
                for a, what in zip(outs, self._out_names, strict=True)
            ]
        if library.threads is not None:
            library.prepare_thread()
        if library.packs and any(type(a) is Packed for a in values):
            inputs = [
                value
                for value, (_, _, serves) in zip(values, self._parameters, strict=True)
                if not serves
            ]
            for at in self._left_out:
                del inputs[at]
            code = call_packed(plan, library, inputs, passed)
        elif plan.device != CPU and library.arch:
            code = self._on_gpu(plan, library, passed, stream)
        else:
            code = plan.call(library, passed, stream)
        if code != 0 and code_kind(code) == ALIGN and plan.device == CPU:
            aligned = self._aligned(plan, values, outs)
            if aligned is not None:
                return aligned
        if code != 0:
            raise library.error(code, texts_of(plan))
        if len(outs) == 1:
            return outs[0]
        return dict(zip(self._outputs, outs, strict=True))

    def _aligned(self, plan: Plan, values: Sequence[Any], outs: Sequence[Any]) -> Any:
        """What the call gives where arrays begin in the middle of an element; None where none does."""
        sizes = dict(zip(plan.names, plan.sizes, strict=True))
        named = {name: size for name, size in sizes.items() if name in self._sizes}
        takes = [take for _, take, _ in self._parameters]
        arrays = [v for v, take in zip(values, takes, strict=True) if take is None]

        def call(arrays: Sequence[Any], outs: Sequence[Any]) -> Any:
            left = iter(arrays)
            again = [next(left) if t is None else v for v, t in zip(values, takes, strict=True)]
            return self.call(again, outs or None, None, named)

        return on_copies(arrays, outs, call)

    def _on_gpu(self, plan: Plan, library: Library, passed: list[Any], stream: int | None) -> int:
        from hbc.cli.api.gpu_device import current, is_current

        if is_current(plan.device, library.arch):
            return plan.call(library, passed, stream)
        with current(plan.device, library.arch):
            return plan.call(library, passed, stream)

    def _new(self, plan: Plan, values: Sequence[Any]) -> list[Any]:
        """Arrays for the outputs, of the kind of the first array among the inputs."""
        for value, (_, take, _) in zip(values, self._parameters, strict=True):
            if take is None:
                example = value.array if type(value) is Packed else value
                if type(example) is np.ndarray:
                    break
                return [like(example, shape, element) for shape, element in plan.outputs]
        return [np.empty(shape, numpy_dtype(element)) for shape, element in plan.outputs]
