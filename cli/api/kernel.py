"""A compiled kernel that is called on arrays, and tells what it is made of."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hbc.cli.api.arguments import Plan, arrays_in_order, plan_of, texts_of
from hbc.cli.api.arrays import CPU, address_of, like
from hbc.cli.api.packed import Packed, call_packed
from hbc.cli.compiled import packs_of
from hbc.cli.files.scalars import parameters, scalar_array
from hbc.codegen.c.by_value import by_value
from hbc.ir.ground.diag import ArgumentError, Diagnostic, HbcError
from hbc.ir.lang.target import GPU
from hbc.ir.meaning.numpy_types import element_of

if TYPE_CHECKING:
    from hbc.cli.api.library import Library
    from hbc.cli.api.results import Bench, Verification
    from hbc.cli.compiled import Compiled

MOST_PLANS = 256  # of shapes that are remembered


class Kernel:
    """What `hbc.compile` gives. `kernel(A, B)` takes the inputs in the order of the file, or by name,
    and returns the output, or a dictionary of the outputs where there are several. Calls from several
    threads may run at once: Python's lock is released while the code runs."""

    def __init__(
        self, compiled: Compiled, settings: Mapping[str, str], threads: int | None, on_cpu: bool
    ) -> None:
        self.compiled = compiled
        self.settings = dict(settings)
        self.threads = threads
        self.on_cpu = on_cpu
        self._lock = threading.Lock()
        self._library: Library | None = None
        self._plans: dict[Any, Plan] = {}
        self.name: str = compiled.source.name
        p = compiled.chosen.pipeline
        self._scalars = [
            (at, name, element)
            for at, (name, element) in enumerate(parameters(p).items())
            if element
        ]
        self.inputs: tuple[str, ...] = tuple(parameters(p))
        self.outputs: tuple[str, ...] = tuple(o.name for o in compiled.chosen.pipeline.outputs)
        self.__doc__ = f"{self._signature()}, compiled for {self.target}."

    def __call__(
        self, *arrays: Any, out: Any = None, stream: int | None = None, **named: Any
    ) -> Any:
        """Runs the kernel. `arrays` are the inputs, a number for each scalar; `named` gives inputs, and
        sizes that no array decides, by name. `out` takes the result: an array, or a dictionary or sequence
        of them where there are several outputs; without it, arrays like the first input are made. No
        array is copied: rows may lie apart, the elements of a row may not. `stream`: on a GPU, the number
        of the stream that the work is queued in; the call does not wait for it.

        Raises ArgumentError (an HbcError and a ValueError) for arrays of another type, shape, device
        or layout than the kernel takes, and for what the code itself refuses.
        """
        if not named and stream is None:
            # NumPy arrays of shapes met before: the way that costs a few microseconds.
            every = arrays if out is None else (*arrays, out)
            key = (len(arrays), *[_form(a) for a in every])
            plan = self._plans.get(key)
            if plan is not None and (out is None or out.flags.writeable):
                inputs = self._with_scalars(arrays) if self._scalars else arrays
                return self._run(plan, inputs, every[len(arrays) :])
        return self._call(arrays, out, stream, named)

    def pack(self, **named: Any) -> Any:
        """What stands for a constant input in calls, `f = kernel.pack(F=weights)`: it is packed by the
        first call at some sizes, for all that follow. A dictionary where several are given. ArgumentError
        for inputs that are not declared `constant`, and where the code packs nothing (GPUs, fallbacks)."""
        constants = packs_of(self.compiled)
        for name in named:
            if name not in constants:
                known = ", ".join(f"`{n}`" for n in constants)
                hint = f"there is {known}" if known else f"declare it: `input {name}: ... constant`"
                raise ArgumentError(Diagnostic(f"`{name}` is no constant input", hint=hint))
        made = {name: Packed(self.name, name, array) for name, array in named.items()}
        return next(iter(made.values())) if len(made) == 1 else made

    def build(self) -> Kernel:
        """Compiles the C and loads it, which the first call does otherwise. ToolError without a C
        compiler, or when this machine cannot run the code."""
        if self._library is None:
            from hbc.cli.api.library import Library

            with self._lock:
                if self._library is None:
                    self._library = Library(self.compiled, self.threads, self.on_cpu)
        return self

    @property
    def target(self) -> str:
        """The name of the target that the code is for."""
        return self.compiled.chosen.target.name

    @property
    def schedule(self) -> str:
        """The name of the schedule; `none` for plain loops."""
        return self.compiled.chosen.schedule_name

    @property
    def source(self) -> str:
        """The C, or CUDA."""
        return self.compiled.source.text

    @property
    def header(self) -> str:
        """The C header: entry points and error codes."""
        return self.compiled.source.header

    @property
    def loops(self) -> str:
        """The loop nest as scheduled, in a few lines."""
        from hbc.frontend.directives.loop_tree import loop_tree

        return loop_tree(self.compiled.chosen.pipeline, self.compiled.chosen.schedule)

    def explain(self) -> str:
        """What `hbc explain` says: the tensor instructions chosen for each statement, or why none."""
        from hbc.cli.api.deep import in_compiler
        from hbc.cli.commands.explain import explained

        return in_compiler(lambda: "\n".join(explained(self.compiled.chosen)))

    def verify(self, trials: int = 3) -> Verification:
        """Compares the compiled code with the oracle on `trials` random sets of sizes and inputs, in a
        child process. Raises MismatchError when a result differs by more than its bound."""
        from hbc.cli.api.deep import in_compiler
        from hbc.cli.api.results import verified

        return in_compiler(lambda: verified(self.compiled, self.settings, trials, self.on_cpu))

    def bench(self, *arrays: Any, seconds: float = 0.5, **named: Any) -> Bench:
        """Times the code, with one thread unless `threads` says otherwise: on these inputs, or on the
        file's example."""
        from hbc.cli.api.results import benched, copied

        run = copied(self.compiled, self.settings, arrays, named) if arrays or named else None
        return benched(self.compiled, self.settings, run, self.threads, self.on_cpu, seconds)

    def __repr__(self) -> str:
        return f"<hbc.Kernel {self._signature()} for {self.target}, schedule {self.schedule}>"

    def _repr_html_(self) -> str:
        from hbc.cli.api.notebook import as_html

        return as_html(self.compiled, self.loops)

    def _signature(self) -> str:
        return f"{self.name}({', '.join(self.inputs)}) -> {', '.join(self.outputs)}"

    def _call(
        self, arrays: Sequence[Any], out: Any, stream: int | None, named: Mapping[str, Any]
    ) -> Any:
        p = self.compiled.chosen.pipeline
        inputs, sizes = arrays_in_order(p, arrays, named)
        outs = arrays_in_outputs(self.outputs, out)
        self._check_packed(inputs)
        plain = [a.array if isinstance(a, Packed) else a for a in inputs]
        plan = plan_of(p, self.settings, plain, outs, sizes)
        self._check_device(plan.device, stream)
        if not named and all(type(a) is np.ndarray for a in (*plain, *outs)) and not p.scalar_sizes:
            if len(self._plans) >= MOST_PLANS:
                self._plans.clear()
            self._plans[len(arrays), *[_form(a) for a in (*arrays, *outs)]] = plan
        return self._run(plan, inputs, outs, stream)

    def _with_scalars(self, arrays: Sequence[Any]) -> list[Any]:
        """The inputs of a call with the scalars as arrays without dimensions."""
        found = list(arrays)
        for at, name, element in self._scalars:
            try:
                found[at] = scalar_array(name, element, found[at])
            except HbcError as failure:
                raise ArgumentError(failure.diagnostics) from None
        return found

    def _check_packed(self, inputs: Sequence[Any]) -> None:
        names = [i.name for i in self.compiled.chosen.pipeline.inputs]
        for name, a in zip(names, inputs, strict=True):
            if isinstance(a, Packed) and (a.kernel, a.name) != (self.name, name):
                raise ArgumentError(
                    Diagnostic(f"{a!r} stands where `{name}` of `{self.name}` is wanted")
                )

    def _check_device(self, device: str, stream: int | None) -> None:
        if device == CPU and stream is not None:
            raise ArgumentError(Diagnostic("`stream` is for arrays in a GPU's memory"))
        if device != CPU and self.target != GPU:
            raise ArgumentError(
                Diagnostic(
                    f"the arrays lie on {device}, `{self.target}` code runs on the CPU",
                    hint='copy them to the CPU, or compile with target="cuda"',
                )
            )

    def _run(
        self, plan: Plan, inputs: Sequence[Any], outs: Sequence[Any], stream: int | None = None
    ) -> Any:
        library = self._library
        if library is None:
            library = self.build()._library
            assert library is not None
        if not outs:
            plain = (a.array if isinstance(a, Packed) else a for a in inputs)
            example = next((a for a in plain if _is_array(a)), None)
            outs = [like(example, shape, element) for shape, element in plan.outputs]
        if library.threads is not None:
            library.prepare_thread()
        if any(type(a) is Packed for a in inputs):
            code = call_packed(plan, library, inputs, outs, passed)
        else:
            code = plan.call(library, [passed(a) for a in (*inputs, *outs)], stream)
        if code != 0:
            raise library.error(code, texts_of(plan))
        if len(outs) == 1:
            return outs[0]
        return dict(zip(self.outputs, outs, strict=True))


def _is_array(a: Any) -> bool:
    """Whether it is no scalar, which `arrays_in_order` makes an array without dimensions."""
    return not (type(a) is np.ndarray and a.ndim == 0)


def passed(a: Any) -> Any:
    if _is_array(a):
        return address_of(a)
    element = element_of(a.dtype)
    assert element is not None
    return by_value(element.name, a.tobytes())


def _form(array: Any) -> tuple[Any, ...] | None:
    """What of a NumPy array decides whether and how the code takes it; None for others."""
    if type(array) is Packed:
        return ("packed", array.kernel, array.name, _form(array.array))
    if type(array) is not np.ndarray:
        return None
    return array.shape, array.strides, array.dtype


def arrays_in_outputs(names: Sequence[str], out: Any) -> list[Any]:
    """The arrays of `out` in the order of the file; none when it is None."""
    if out is None:
        return []
    if isinstance(out, Mapping):
        missing = [name for name in names if name not in out]
        if missing or len(out) != len(names):
            listed = ", ".join(f"`{name}`" for name in names)
            raise ArgumentError(Diagnostic(f"`out` is for the outputs {listed}, all of them"))
        return [out[name] for name in names]
    found = list(out) if isinstance(out, list | tuple) else [out]
    if len(found) != len(names):
        raise ArgumentError(
            Diagnostic(f"`out` has {len(found)} arrays, the kernel {len(names)} outputs")
        )
    return found
