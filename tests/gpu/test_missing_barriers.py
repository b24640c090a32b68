"""ThreadSanitizer on the CPU reports every barrier of a kernel that is taken away, and no race otherwise.

All of it is one program: the barrier to leave out, and the sizes, are its arguments.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from gpu_kernels import CUDA, lowered, pipeline_of

from hbc.codegen.cuda import emit_cuda
from hbc.codegen.cuda_cpu import ORDER_VARIABLE, build
from hbc.codegen.spelling import c_type

RACE = 66  # what ThreadSanitizer exits with
NONE = -1  # no barrier is missing
BARRIER = re.compile(r"__sync(?:threads|warp)\(\);")
SHARED = {
    "gemm": "staged", "transpose": "shared", "fragments": "staged", "atomics": "inblock",
}  # fmt: skip
SIZES = {
    "gemm": ((16, 32, 32), (17, 36, 11)),
    "transpose": ((33, 65),),
    "atomics": ((13, 15), (70, 16)),
    "fragments": ((32, 16, 32), (33, 17, 40)),
}


@dataclass(frozen=True, slots=True)
class Program:
    """Built with all barriers; `count` of them can be left out, one in each run."""

    path: Path
    count: int

    def status(self, missing: int, sizes: tuple[int, ...]) -> int:
        environment = {**os.environ, ORDER_VARIABLE: "forward"}
        answer = subprocess.run(
            [str(self.path), str(missing), *map(str, sizes)],
            capture_output=True, env=environment, timeout=120, check=False,
        )  # fmt: skip
        return answer.returncode


@cache
def program(name: str, folder: Path) -> Program:
    """The kernel with a `main` that calls it on arrays of zeros and ones."""
    p, source = pipeline_of(name), emit_cuda(lowered(name, SHARED[name]), CUDA)
    numbers = iter(range(1 << 30))
    text = BARRIER.sub(lambda m: f"if (missing != {next(numbers)}) {m[0]}", source.text)
    calls = [f"sizes[{n}]" for n in range(len(p.sizes))]
    lines = []
    for image in (*p.inputs, *p.outputs):
        places = {s.name: f"sizes[{n}]" for n, s in enumerate(p.sizes)}
        count = " * ".join(places[str(e.name)] for e in image.extents if hasattr(e, "name")) or "1"
        t = c_type(image.element)
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
    path = folder / name
    build(whole, path, "program", name=name, sanitize="thread", extra=(f"-I{folder}",))
    return Program(path, next(numbers))


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("missing")


@pytest.mark.parametrize("name", SHARED)
def test_every_missing_barrier_is_found(name: str, folder: Path) -> None:
    made = program(name, folder)
    assert made.count >= 2
    if made.status(NONE, (1,) * len(SIZES[name][0])) not in (0, RACE):
        pytest.skip("ThreadSanitizer does not run here")
    assert [made.status(NONE, sizes) for sizes in SIZES[name]] == [0] * len(SIZES[name])
    for n in range(made.count):
        assert RACE in {made.status(n, sizes) for sizes in SIZES[name]}, (
            f"nobody misses barrier {n}"
        )
