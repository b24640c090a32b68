"""A compiled kernel that is called on arrays, and tells what it is made of."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hbc.cli.api.said import as_python_hears
from hbc.cli.compiled import packs_of
from hbc.cli.files.scalars import parameters
from hbc.ir.ground.diag import ArgumentError, Diagnostic

if TYPE_CHECKING:
    from hbc.cli.api.buffers import BufferCalls
    from hbc.cli.api.calls import Calls
    from hbc.cli.api.library import Library
    from hbc.cli.api.results import Bench, Verification
    from hbc.cli.compiled import Compiled


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
        self._call: Callable[..., Any] = self._first_call
        self.name: str = compiled.source.name
        p = compiled.chosen.pipeline
        self.inputs: tuple[str, ...] = tuple(parameters(p))
        self.outputs: tuple[str, ...] = tuple(o.name for o in compiled.chosen.pipeline.outputs)
        self.__doc__ = f"{self._signature()}, compiled for {self.target}."

    def __call__(
        self, *arrays: Any, out: Any = None, stream: int | None = None, **named: Any
    ) -> Any:
        """Runs the kernel. `arrays` are the inputs, a number for each scalar; `named` gives inputs, and
        sizes that no array decides, by name. `out` takes the result: an array, or a dictionary or sequence
        of them where there are several outputs; without it, arrays like the first input are made. No
        array is copied, but one that begins in the middle of an element: rows may lie apart, the elements of
        a row may not. An output that aliases an input
        overwrites it and is that array, unless `out` has another one, to which the input is copied.
        `stream`: on a GPU, the number of the stream that the work is queued in; the call does not wait.

        Raises ArgumentError (an HbcError and a ValueError) for arrays of another type, shape, device
        or layout than the kernel takes, and for what the code itself refuses.
        """
        return self._call(arrays, out, stream, named)

    def pack(self, **named: Any) -> Any:
        """What stands for a constant input in calls, `f = kernel.pack(F=weights)`: it is packed by the
        first call at some sizes, for all that follow. A dictionary where several are given. ArgumentError
        for inputs that are not declared `constant`, and where the code packs nothing (GPUs, fallbacks)."""
        from hbc.cli.api.int4 import to_pack

        constants = packs_of(self.compiled)
        for name in named:
            if name not in constants:
                known = ", ".join(f"`{n}`" for n in constants)
                hint = f"there is {known}" if known else f"declare it: `input {name}: ... constant`"
                raise ArgumentError(Diagnostic(f"`{name}` is no constant input", hint=hint))
        p = self.compiled.chosen.pipeline
        made = {name: to_pack(p, name, array) for name, array in named.items()}
        return next(iter(made.values())) if len(made) == 1 else made

    def build(self) -> Kernel:
        """Compiles the C and loads it, which the first call does otherwise. ToolError without a C
        compiler, or when this machine cannot run the code."""
        self._loaded()
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

        chosen = self.compiled.chosen
        return loop_tree(chosen.pipeline, chosen.schedule, chosen.on_gpu)

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
        """Times the code, with one thread unless `threads` says otherwise: on these inputs; without any, on
        those of the file's example, or random ones, at the sizes that are given by name."""
        from hbc.cli.api.deep import in_compiler
        from hbc.cli.api.results import benched, inputs_of

        def timed() -> Bench:
            run = inputs_of(self.compiled, self.settings, arrays, named)
            return benched(self.compiled, run, self.threads, self.on_cpu, seconds)

        return in_compiler(timed)

    def __repr__(self) -> str:
        return f"<hbc.Kernel {self._signature()} for {self.target}, schedule {self.schedule}>"

    def _repr_html_(self) -> str:
        from hbc.cli.api.deep import in_compiler
        from hbc.cli.api.notebook import as_html
        from hbc.cli.machine import cpu_count

        threads = self.threads or cpu_count()
        return in_compiler(lambda: as_html(self.compiled, self.loops, threads))

    def _first_call(
        self, arrays: Any, out: Any, stream: int | None, named: Mapping[str, Any]
    ) -> Any:
        """As all calls until NumPy is there, or needed."""
        if "numpy" not in sys.modules and stream is None:
            done = self._buffers.call(arrays, out, named)
            if done is not None:
                return done
        self._call = self._calls.call
        return self._call(arrays, out, stream, named)

    @cached_property
    def _buffers(self) -> BufferCalls:
        from hbc.cli.api.buffers import BufferCalls

        return BufferCalls(self.compiled, self.settings, self._loaded)

    @cached_property
    def _calls(self) -> Calls:
        """Made by the first call that needs NumPy, which takes as long to import as all else."""
        from hbc.cli.api.calls import Calls

        return Calls(self.compiled, self.settings, self._loaded)

    def _loaded(self) -> Library:
        if self._library is None:
            from hbc.cli.api.library import Library

            with self._lock:
                if self._library is None:
                    with as_python_hears():
                        self._library = Library(self.compiled, self.threads, self.on_cpu)
        return self._library

    def _signature(self) -> str:
        return f"{self.name}({', '.join(self.inputs)}) -> {', '.join(self.outputs)}"
