"""Calls compiled kernels, in a child process: a crash there becomes a message here."""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from hbc.cli.files.sizes import extents
from hbc.cli.runs.gpu_failure import gpu_failure
from hbc.cli.runs.limits import VARIABLE, limit, limits_of_calls
from hbc.cli.runs.strides import PADDING, gather_rows, longer_shape, row_strides, spread
from hbc.codegen.build.gpu import GpuLibrary
from hbc.codegen.build.program import Program
from hbc.codegen.build.run_tool import end_group, signal_name
from hbc.codegen.c.codes import CUDA, FEATURE, MEMORY, code_kind
from hbc.frontend.program.funcs import Pipeline
from hbc.ir.ground.diag import Diagnostic, HbcError, InternalError, ToolError, error
from hbc.ir.ground.record import record
from hbc.ir.host.held_signals import held_signals
from hbc.ir.host.scratch import scratch_folder
from hbc.ir.lang.types import BOOL, DType

if TYPE_CHECKING:
    from hbc.cli.files.loaded import Array

KILLED, TIME_SPENT = 9, 24  # SIGKILL and SIGXCPU, which Windows does not name
# What the system may refuse to a child, as it says it, and what helps.
_REFUSED = {
    os.strerror(errno.ENOMEM): "try smaller sizes",
    os.strerror(errno.ENOSPC): "TMPDIR names another folder",
    os.strerror(errno.EDQUOT): "TMPDIR names another folder",
    os.strerror(errno.EFBIG): f"{VARIABLE} allows more, unless `ulimit -f` does not",
    os.strerror(errno.EMFILE): f"{VARIABLE} allows more, unless `ulimit -n` does not",
}
# A thread that waits for others leaves its processor to them at once, unless the user says otherwise: one
# that spins may keep it from the thread that it waits for.
WAITING = {"OMP_WAIT_POLICY": "passive"}
_HERE = ("enough", "flush", "own")  # of `Repeat`: not for other machines
FLOAT_POISON = 0xFF  # a NaN in every float type
INTEGER_POISON = (0xA5, 0x5A)  # which of them: by the parity of the call


@dataclass(frozen=True, slots=True)
class Repeat:
    """How often a call is made: `warmups`, then at least `least` timed ones, more until `seconds`
    have passed, at most `most`. `enough`: after so many calls in this process, a tenth of the seconds will
    do (0: never). `flush`: on a GPU, each finds its L2 cache empty. `own`: of a call counts how long
    the thread that makes it ran itself, not how long others kept it from running."""

    warmups: int = 0
    least: int = 1
    seconds: float = 0.0
    most: int = 1
    enough: int = 0
    flush: bool = False
    own: bool = False


@record
class Called:
    """The outputs by name and the seconds of each timed call. `emulated`: how often the last call
    executed each tile instruction, when an emulator did. `packing`: the seconds that packing a constant
    input took, before all calls."""

    outputs: Mapping[str, Array]
    seconds: tuple[float, ...]
    emulated: Mapping[str, int] | None = None
    packing: Mapping[str, float] = field(default_factory=dict)


@record
class Argument:
    """One array of a request, as `native_child` reads it, or a scalar, of this type and with these bytes."""

    name: str
    bytes: int
    strides: Sequence[int] = ()  # passed behind the pointer
    load: str | None = None  # file to start from
    fill: int | None = None  # byte that an output starts with
    save: str | None = None  # file that takes the result
    scalar: tuple[str, str] | None = None
    packed: bool = False  # by the kernel, before the calls


class Native:
    """A shared library loaded in a child process, used as a context manager. Calls that the child
    does not survive raise InternalError; one that takes over `timeout` seconds, HbcError."""

    def __init__(
        self,
        library: Path | Program | GpuLibrary,
        threads: int,
        timeout: float,
        emulator: Path | None = None,
        memory: int | None = None,
    ) -> None:
        """`emulator`: the library of the AMX emulator, to be loaded before the kernel's. `memory`: bytes
        that calls may take at most, if fewer than are usual."""
        self._timeout = timeout
        self._calls = 0
        self._emulated: dict[str, int] | None = None
        self._packing: dict[str, float] = {}
        self.emulated: Counter[str] = Counter()  # tile instructions executed by all requests
        # Before anything is begun: what it says may be unreadable.
        self._limits = limits_of_calls(timeout, threads, isinstance(library, GpuLibrary))
        if memory is not None and self._limits.memory is not None:
            self._limits = replace(self._limits, memory=min(memory, self._limits.memory))
        self._owned = contextlib.ExitStack()
        environment = WAITING | os.environ
        environment |= {"OMP_NUM_THREADS": str(threads), "OMP_DYNAMIC": "false"}
        self._in_words = isinstance(library, Program)
        self._place = "_device" if isinstance(library, GpuLibrary) else ""  # where arrays are
        command: tuple[str, ...]
        if isinstance(library, Program):
            command = library.command
            environment |= library.environment
        elif isinstance(library, GpuLibrary):
            child = (sys.executable, "-P", "-m", "hbc.cli.runs.gpu_child")
            command = (*child, str(library.path.resolve()), library.loader)
        else:
            paths = [library] if emulator is None else [library, emulator]
            child = (sys.executable, "-P", "-m", "hbc.cli.runs.native_child")
            command = (*child, *(str(path.resolve()) for path in paths))
        with held_signals():
            self._folder = self._owned.enter_context(scratch_folder())
            try:
                self._errors = self._owned.enter_context((self._folder / "stderr").open("w+b"))
                self._child = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
                    env=environment, cwd=self._folder if self._in_words else None,
                    process_group=None if sys.platform == "win32" else 0,
                )  # fmt: skip
            except OSError as failure:
                self._owned.close()
                reason = failure.strerror or failure
                raise ToolError(Diagnostic(f"cannot run `{command[0]}`: {reason}")) from failure
            limit(self._child.pid, self._limits)

    def __enter__(self) -> Native:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        with held_signals():
            if kind is not None:
                self._kill()  # an interruption does not wait for the call
            for pipe in (self._child.stdin, self._child.stdout):
                if pipe is not None:
                    # A child that is gone has not read everything.
                    with contextlib.suppress(BrokenPipeError):
                        pipe.close()
            try:
                self._child.wait(1)
            except subprocess.TimeoutExpired:
                self._kill()
                self._child.wait()
            self._owned.close()

    def _kill(self) -> None:
        """With what it may have started; not once it is gone, and its number another's."""
        if self._child.poll() is None:
            end_group(self._child, KILLED)

    def call(
        self,
        function: str,
        sizes: Sequence[int],
        inputs: Mapping[str, Array],
        outputs: Mapping[str, tuple[tuple[int, ...], DType]],
        repeat: Repeat = Repeat(),
        guarded: bool = False,
        lengthen: Mapping[str, int] | None = None,
        padding: int = PADDING,
        packs: Sequence[str] = (),
        in_place: Mapping[str, str] | None = None,
    ) -> Called:
        """Calls `function(sizes..., inputs..., outputs...)`, arrays in the order given, those without
        dimensions by value, outputs as (shape, element type). `guarded` makes inputs read-only and accesses
        behind an array fault.
        With `lengthen` the strided form is called, on arrays whose rows lie apart because the
        dimension named there is longer in memory, by `padding`. Constant inputs in `packs` are packed
        before the calls (not for programs, GPUs and the strided form). Outputs that are `in_place` of an
        input begin each call with its values. HbcError when the kernel refuses its arguments.
        """
        import numpy as np

        self._calls += 1
        rows = lengthen or {}
        if rows or self._in_words or self._place:
            packs = ()
        arrays = []
        taken = {given: output for output, given in (in_place or {}).items()}
        types = {name: element for name, (_, element) in outputs.items()}
        begins: dict[str, str] = {}
        for number, (name, array) in enumerate(inputs.items()):
            if array.ndim == 0:
                arrays.append(by_value(name, array))
                continue
            path = self._folder / f"in-{number}"  # names may be longer than those of files
            if name in taken:
                begins[taken[name]] = str(path)
            gaps = self._poison(types[taken[name]]) if name in taken else None
            wide = spread(array, rows[name], padding, gaps) if name in rows else array
            # Not ndarray.tofile: where it runs out of room, it does not say so.
            path.write_bytes(np.ascontiguousarray(wide).reshape(-1).view(np.uint8).data)
            strides = row_strides(wide.shape) if rows else []
            if name not in taken:
                arrays.append(
                    Argument(name, wide.nbytes, strides, load=str(path), packed=name in packs)
                )
        for number, (name, (shape, element)) in enumerate(outputs.items()):
            longer = longer_shape(shape, rows.get(name), padding)
            strides = row_strides(longer) if rows else []
            length, save = element.bytes * math.prod(longer), str(self._folder / f"out-{number}")
            fill = None if name in begins else self._poison(element)
            arrays.append(Argument(name, length, strides, begins.get(name), fill, save))
        entry = f"{function}{self._place}{'_strided' if rows else ''}"
        seconds = self.request(entry, f"{function}_strerror", sizes, arrays, repeat, guarded)
        found = self._outputs(function, outputs, rows, padding)
        return Called(found, seconds, self._emulated, self._packing)

    def _outputs(
        self,
        function: str,
        outputs: Mapping[str, tuple[tuple[int, ...], DType]],
        rows: Mapping[str, int],
        padding: int,
    ) -> dict[str, Array]:
        import numpy as np

        from hbc.ir.meaning.numpy_types import numpy_dtype

        arrays = {}
        for number, (name, (shape, element)) in enumerate(outputs.items()):
            raw = np.fromfile(self._folder / f"out-{number}", dtype=np.uint8)
            wide = raw.view(numpy_dtype(element)).reshape(
                longer_shape(shape, rows.get(name), padding)
            )
            arrays[name] = wide
            if name in rows:
                arrays[name], rest = gather_rows(wide, rows[name], padding)
                if np.any(rest.view(np.uint8) != self._poison(element)):
                    raise InternalError(f"`{function}` wrote between the rows of `{name}`")
        return arrays

    def time(
        self, function: str, sizes: Sequence[int], scratch: Sequence[int], repeat: Repeat
    ) -> tuple[float, ...]:
        """Seconds of each call of `function(sizes..., scratch...)`; `scratch` are the bytes of
        arrays whose contents do not matter."""
        arrays = [Argument("scratch", length, fill=0) for length in scratch]
        return self.request(f"{function}{self._place}", "", sizes, arrays, repeat, False)

    def _poison(self, element: DType) -> int:
        """The byte that an output is full of before the call; another one for the next call."""
        if element.is_float:
            return FLOAT_POISON
        return self._calls % 2 if element == BOOL else INTEGER_POISON[self._calls % 2]

    def request(
        self, function: str, explain: str, sizes: Sequence[int], arrays: Sequence[Argument],
        repeat: Repeat, guarded: bool,
    ) -> tuple[float, ...]:  # fmt: skip
        """One line to the child and its answer: the seconds of each call."""
        message: dict[str, object] = {
            "function": function,
            "explain": explain,
            "sizes": list(sizes),
            "arrays": [
                {
                    "name": a.name,
                    "bytes": a.bytes,
                    "strides": list(a.strides),
                    "load": a.load,
                    "fill": a.fill,
                    "save": a.save,
                    "scalar": a.scalar,
                    "packed": a.packed,
                }
                for a in arrays
            ],
            "repeat": asdict(repeat),
            "guarded": guarded,
        }
        line = as_words(message) if self._in_words else json.dumps(message)
        limit(self._child.pid, self._limits, max((a.bytes for a in arrays if a.save), default=0))
        return self._answered(line, function, explain)

    def again(self, function: str, repeat: Repeat) -> tuple[float, ...]:
        """Seconds of more calls of the last request, with the same arguments: nothing is read, poisoned or
        saved. Not for programs of other machines, nor on a GPU."""
        limit(self._child.pid, self._limits)
        return self._answered(json.dumps({"again": True, "repeat": asdict(repeat)}), function, "")

    def _answered(self, line: str, function: str, explain: str) -> tuple[float, ...]:
        answer = json.loads(self._exchange(line, function))
        if "failed" in answer:
            name = explain.removesuffix("_strerror") or function
            raise gpu_failure(name, answer["failed"])
        if code_kind(answer["code"]) == FEATURE:
            raise ToolError(Diagnostic(f"`{function}` cannot run: {answer['said']}"))
        if code_kind(answer["code"]) in (CUDA, MEMORY):
            raise error(f"`{function}` failed: {answer['said']}")
        if answer["code"]:
            raise error(f"`{function}` refused its arguments: {answer['said']}")
        self._packing = answer.get("packing", {})
        counts = answer.get("emulated")
        self._emulated = None if counts is None else {name: n for name, n in counts.items() if n}
        self.emulated.update(self._emulated or {})
        return tuple(answer["seconds"])

    def _exchange(self, line: str, function: str) -> bytes:
        assert self._child.stdin is not None and self._child.stdout is not None
        late = threading.Event()

        def give_up() -> None:
            late.set()
            self._kill()

        timer = threading.Timer(self._timeout, give_up)
        timer.start()
        try:
            self._child.stdin.write(line.encode() + b"\n")
            self._child.stdin.flush()
            answer = self._child.stdout.readline()
        except BrokenPipeError:
            answer = b""
        finally:
            timer.cancel()
        if answer:
            return answer
        self._child.wait()
        if late.is_set():
            raise error(
                f"`{function}` did not finish within {self._timeout:g} s",
                hint="--timeout SECONDS allows more",
            )
        raise self._death(function)

    def _death(self, function: str) -> HbcError | InternalError:
        code = self._child.returncode
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        said = f": {lines[-1][:300]}" if lines else ""
        if code == -KILLED:
            hint = "it may have run out of memory: try smaller sizes"
            return ToolError(Diagnostic(f"`{function}` was killed by the system", hint=hint))
        if code == -TIME_SPENT:
            said = f"`{function}` took more than {self._limits.seconds:g} s of processor time"
            return error(said, hint=f"--timeout SECONDS allows more, as {VARIABLE} does")
        if code < 0:
            return InternalError(
                f"the compiled `{function}` crashed with {signal_name(-code)}{said}"
            )
        if refused := next((w for w in _REFUSED if w in said), None):
            return ToolError(
                Diagnostic(f"calling `{function}` failed: {refused}", hint=_REFUSED[refused])
            )
        if "OSError" in said or "undefined symbol" in said:
            return ToolError(Diagnostic(f"the compiled library cannot be loaded{said}"))
        if "ToolError" in said:
            return ToolError(Diagnostic(said.partition("error: ")[2] or said))
        if "MemoryError" in said:
            hint = "try smaller sizes"
            return ToolError(Diagnostic(f"not enough memory to call `{function}`", hint=hint))
        return InternalError(f"the process running `{function}` ended with code {code}{said}")


def by_value(name: str, array: Array) -> Argument:
    """A scalar."""
    from hbc.ir.meaning.numpy_types import element_of

    element = element_of(array.dtype)
    assert element is not None
    return Argument(name, array.nbytes, scalar=(element.name, array.tobytes().hex()))


def as_words(request: Mapping[str, Any]) -> str:
    """A request as `native_driver.c` reads it, in whose folder the files are."""
    words = [request["function"], len(request["sizes"]), *request["sizes"]]
    words.append(len(request["arrays"]))
    for array in request["arrays"]:
        files = [Path(array[name]).name if array[name] else "-" for name in ("load", "save")]
        fill = -1 if array["fill"] is None else array["fill"]
        strides = array["strides"]
        if array["scalar"]:
            element, data = array["scalar"]
            # RISC-V's calling convention: 32 bits of any integer are extended by their sign, and above those
            # of a float there are ones. Others do not look at the upper half of a register.
            signed = element.startswith("i") or element in ("u32", "u64", "f64")
            bits = int.from_bytes(bytes.fromhex(data), "little", signed=signed)
            bits -= 1 << 32 if element == "f32" else 0
            words += ["f" if element in ("f32", "f64") else "i", bits]
            continue
        words += ["a", array["bytes"], len(strides), *strides, files[0], fill, files[1]]
    words += [value for name, value in request["repeat"].items() if name not in _HERE]
    words.append(int(request["guarded"]))
    return " ".join(str(word) for word in words)


def output_shapes(
    p: Pipeline, sizes: Mapping[str, int]
) -> dict[str, tuple[tuple[int, ...], DType]]:
    """The outputs of a pipeline as `call` takes them."""
    return {image.name: (extents(image, sizes), image.element) for image in p.outputs}
