"""The examples of the documentation are checked, run and compared with what is printed beside them.

A block marked `hb` is a program; `hb run` one whose result is compared with the oracle; `hb schedule`
the lines of a schedule for the program above it; `loops` what `--emit loops` prints for the block
before it, `explain` and `inspect` what those commands say of it, and `vectors` and `selected` the IR
after those passes, `auto` the schedule that hbc makes; `hb wrong` a program with a mistake, and `error`
the message. Run as a program, this file brings the printed blocks up to date.
"""

from __future__ import annotations

import itertools
import re
import subprocess
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from hbc.cli.automatic import automatic
from hbc.cli.commands.explain import explained
from hbc.cli.commands.inspect import described
from hbc.cli.compiled import Chosen
from hbc.cli.files.inputs import gather_inputs
from hbc.cli.files.sizes import extents
from hbc.cli.pipeline import lower_to_kernel
from hbc.cli.runs.checking import check_outputs
from hbc.frontend.checks.check import check
from hbc.frontend.directives.loop_tree import loop_tree
from hbc.frontend.oracle.oracle import evaluate
from hbc.frontend.program.funcs import Example, Pipeline, Schedule
from hbc.frontend.text.kernels import each
from hbc.frontend.text.parse import parse
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.source import Source
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.show import show
from hbc.ir.lang.target import TARGETS, Target, schedule_order
from hbc.ir.meaning.interp import run as interpret
from hbc.ir.meaning.numpy_types import numpy_dtype

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"^```([a-z ]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TARGET = TARGETS["avx512"]
STAGES = {"vectors": "simplify-vectors", "selected": "select"}
OUTPUTS = ("loops", "error", "explain", "inspect", "auto", *STAGES)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its mark, text, place in the file, and the program that it belongs to."""

    file: str
    mark: str
    text: str
    span: tuple[int, int]
    line: int
    program: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def source(self) -> Source:
        text = self.program
        if self.mark == "hb schedule":
            text += f"\nschedule shown for {TARGET.name} {{\n{self.text}}}\n"
        return Source("example.hb", text)


def blocks(path: Path) -> list[Block]:
    """All marked blocks of a file; an output block carries the block before it in `program`."""
    document = path.read_text(encoding="utf-8")
    found: list[Block] = []
    program = ""
    for m in BLOCK.finditer(document):
        mark, text = m[1], m[2]
        if mark in ("hb", "hb run", "hb wrong"):
            program = text
        line = document.count("\n", 0, m.start()) + 1
        found.append(Block(path.name, mark, text, m.span(2), line, program))
    return found


ALL = [b for path in sorted(DOCS.glob("*.md")) for b in blocks(path)]
PROGRAMS = [
    replace(b, program=kernel.text)
    for b in ALL
    if b.mark in ("hb", "hb run", "hb schedule")
    for kernel in each(Source(b.file, b.program))
]
PAIRS = [(a, b) for a, b in itertools.pairwise(ALL) if b.mark in OUTPUTS]


def checked(block: Block) -> tuple[Pipeline, Schedule | None]:
    p = check(parse(block.source), {})
    return p, p.schedules[0] if p.schedules else None


def target_of(schedule: Schedule | None) -> Target:
    """What an example is compiled for."""
    if schedule is None or set(schedule.targets) & set(schedule_order(TARGET.name)):
        return TARGET
    return TARGETS[schedule.targets[0]]


def test_there_are_examples() -> None:
    assert {b.file for b in PROGRAMS} >= {"language.md", "schedules.md"}
    described = {"isa", "isa wrong", "isa error"}  # tests/codegen/isa reads these
    solved = {"sf solve"}  # and tests/synth these
    programs = {
        "hb",
        "hb run",
        "hb schedule",
        "hb wrong",
        "sh",
        "cuda",
        "python",
        "python gpu",
        "mermaid",
        "toml",
    }
    # Lines of somebody's program: tests/codegen/bindings runs whole ones.
    programs |= {"c", "cpp", "rust", "cmake"}
    known = programs | described | solved | {*OUTPUTS}
    assert {b.mark for b in ALL} <= known


def test_configurations_can_be_read() -> None:
    """Those of editors: their names, and the files of grammars that they point at."""
    (text,) = [b.text for b in ALL if b.mark == "toml"]
    read = tomllib.loads(text)
    assert [one["file-types"] for one in read["language"]] == [["hb"]]
    for grammar in read["grammar"]:
        assert grammar["source"]["path"].startswith("/path/to/hbc/")
        root = DOCS.parent / grammar["source"]["path"].removeprefix("/path/to/hbc/")
        assert (root / "src" / "parser.c").is_file()


@pytest.mark.parametrize("block", PROGRAMS, ids=str)
def test_example_compiles(block: Block) -> None:
    p, schedule = checked(block)
    lower_to_kernel(p, schedule, target_of(schedule))


@pytest.mark.parametrize(
    "block", [b for b in PROGRAMS if b.mark in ("hb run", "hb schedule")], ids=str
)
def test_example_is_right(block: Block) -> None:
    """As scheduled, run by the interpreter."""
    p, schedule = checked(block)
    kernel = lower_to_kernel(p, schedule, target_of(schedule))
    example = p.examples[0] if p.examples else Example("", (), ())
    settings = {} if p.examples else {s.name: str(13 + n) for n, s in enumerate(p.sizes)}
    run = gather_inputs(p, settings, example, {})
    outputs = {
        o.name: np.full(extents(o, run.sizes), 77, numpy_dtype(o.element)) for o in p.outputs
    }
    interpret(kernel, run.sizes, {**run.inputs, **outputs})
    found = check_outputs(outputs, evaluate(p, run.sizes, run.inputs))
    assert found.ok, found.mistakes


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: str(pair[0]))
def test_printed_output(pair: tuple[Block, Block]) -> None:
    """`loops` and `error` blocks say what hbc says."""
    block, output = pair
    assert output.text == printed(block, output.mark)


def printed(block: Block, mark: str) -> str:
    """The loop nest without its title, or the error."""
    if mark == "loops":
        return loop_tree(*checked(block)).partition("\n")[2]
    if mark == "inspect":
        p, schedule = checked(block)
        return "\n".join(described(Chosen(p, target_of(schedule), schedule))[2:]) + "\n"
    if mark == "explain":  # for the target of the first schedule
        p, schedule = checked(block)
        assert schedule is not None
        chosen = Chosen(p, target_of(schedule), schedule)
        return "\n".join(explained(chosen)[2:]) + "\n"
    if mark == "auto":
        found = automatic(checked(block)[0], TARGET, {}, False)
        assert found is not None
        return found.text
    if mark in STAGES:
        p, schedule = checked(block)
        kernels: dict[str, Kernel] = {}
        lower_to_kernel(p, schedule, target_of(schedule), kernels.setdefault)
        return show(kernels[STAGES[mark]].body) + "\n"
    with pytest.raises(HbcError) as refused:
        p, schedule = checked(block)
        lower_to_kernel(p, schedule, target_of(schedule))
    return str(refused.value).rstrip() + "\n"


def rewrite() -> None:
    """Brings every output block up to date, the last of a file first."""
    for block, output in reversed(PAIRS):
        path, (start, end) = DOCS / output.file, output.span
        document = path.read_text(encoding="utf-8")
        text = document[:start] + printed(block, output.mark) + document[end:]
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    rewrite()


MINE = """#include <cstdio>
__global__ void twice(int *a) { a[threadIdx.x] *= 2; }
int main() {
    int *a;
    cudaMalloc(&a, 4 * sizeof(int));
    for (int i = 0; i < 4; ++i) a[i] = i + 1;
    twice<<<1, 4>>>(a);
    printf("%d\\n", a[0] + a[1] + a[2] + a[3]);
    return cudaFree(a);
}
"""


@pytest.mark.parametrize(
    "block", [b for b in ALL if b.mark == "python"], ids=lambda b: f"{b.file}:{b.line}"
)
def test_python_examples_run(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of `cuda_on_cpu.md` make the program `mine` out of `mine.cu`; others assert for themselves."""
    monkeypatch.chdir(tmp_path)
    Path("mine.cu").write_text(MINE, encoding="ascii")
    exec(compile(block.text, block.file, "exec"), {})
    if block.file != "cuda_on_cpu.md":
        assert "assert " in block.text
        return
    assert subprocess.run(["./mine"], capture_output=True, text=True, check=True).stdout == "20\n"
