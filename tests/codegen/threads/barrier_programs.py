"""CUDA kernels as programs from which any one barrier can be left out, under ThreadSanitizer."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hbc.codegen.build.cuda_cpu import ORDER_VARIABLE, build
from hbc.codegen.cuda.file import emit_cuda
from hbc.codegen.text.spelling import c_type
from hbc.frontend.program.funcs import Pipeline
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.show import show
from hbc.ir.lang.target import TARGETS

RACE = 66  # what ThreadSanitizer exits with
NONE = -1  # no barrier is missing
TO_BE_BRIEF = "halt_on_error=1:symbolize=0:atexit_sleep_ms=0"  # the exit code says all
BARRIER = re.compile(r"__sync(?:threads|warp)\(\);")
NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Program:
    """Built with all barriers; `count` of them can be left out, one in each run."""

    path: Path
    count: int

    def status(self, missing: int, sizes: tuple[int, ...]) -> int:
        environment = {**os.environ, ORDER_VARIABLE: "forward", "TSAN_OPTIONS": TO_BE_BRIEF}
        answer = subprocess.run(
            [str(self.path), str(missing), *map(str, sizes)],
            capture_output=True, env=environment, timeout=120, check=False,
        )  # fmt: skip
        return answer.returncode

    def not_missed(self, sizes: Sequence[tuple[int, ...]]) -> list[int]:
        """The barriers without which there is no race at any of the sizes. What shows one shows the next:
        it is tried first."""
        order, found = list(sizes), []
        for n in range(self.count):
            at = next((i for i, s in enumerate(order) if self.status(n, s) == RACE), None)
            if at is None:
                found.append(n)
            else:
                order.insert(0, order.pop(at))
        return found


def program(p: Pipeline, kernel: Kernel, folder: Path) -> Program:
    """The kernel with a `main` that calls it on arrays of zeros."""
    source = emit_cuda(kernel, TARGETS["cuda"])
    numbers = iter(range(1 << 30))
    text = BARRIER.sub(lambda m: f"if (missing != {next(numbers)}) {m[0]}", source.text)
    calls = [f"sizes[{n}]" for n in range(len(p.sizes))]
    places = {s.name: f"sizes[{n}]" for n, s in enumerate(p.sizes)}
    lines = []
    for image in (*p.inputs, *p.outputs):
        extents = [NAME.sub(lambda m: places[m[0]], show(e)) for e in image.extents]
        count, t = " * ".join(f"({e})" for e in extents) or "1", c_type(image.element)
        lines.append(f"    {t} *{image.name}_ = ({t} *)calloc({count}, sizeof({t}));")
        calls.append(f"{image.name}_")
    main = "\n".join(
        [
            "#include <stdlib.h>", "int main(int count, char **words)", "{",
            "    int64_t sizes[8];", "    missing = atoi(words[1]);",
            "    for (int n = 2; n < count; ++n)", "        sizes[n - 2] = atoi(words[n]);", *lines,
            f"    return {source.name}({', '.join(calls)});", "}", "",
        ]
    )  # fmt: skip
    (folder / f"{source.name}.h").write_text(source.header, encoding="utf-8")
    whole = f"static int missing;\n{text}\n{main}"
    path = folder / source.name
    build(whole, path, "program", name=source.name, sanitize="thread", extra=(f"-I{folder}",))
    return Program(path, next(numbers))
