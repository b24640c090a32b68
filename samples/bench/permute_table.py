"""Times layout changes: the code of `hbc synth --spec` and the plain loop, compiled by gcc and clang."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

HBC = os.environ.get("HBC", "hbc").split()
ROUNDS = int(os.environ.get("ROUNDS", "15"))
TARGET = os.environ.get("TARGET", "avx512")
HARNESS = Path(__file__).with_name("permute_timing.c")
PLAIN = ("-O3", "-march=native", "-std=gnu11")
# Of each change. Arrays fit the first-level cache, and are no multiple of 4 KB long: loads that have the
# same last 12 bits as a store before them wait for it.
BLOCKS = 13

# title, spec, settings, element type, inputs, outputs, the body of the plain loop over `n` blocks
TRANSPOSE = (
    "for (size_t b = 0; b < n; b++) for (int i = 0; i < {s}; i++) for (int j = 0; j < {s}; j++)"
    " out[b * {s} * {s} + j * {s} + i] = x[b * {s} * {s} + i * {s} + j];"
)
VNNI = " ".join(f"out[4 * i + {w}] = x{w}[i];" for w in range(4))


@dataclass(frozen=True)
class Change:
    """One row of the table. Sizes are elements of a block of each array."""

    title: str
    spec: str
    settings: tuple[str, ...]
    element: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    loop: str


def aos(channels: int) -> str:
    moved = " ".join(f"out{c}[i] = x[{channels} * i + {c}];" for c in range(channels))
    return f"for (size_t i = 0; i < {{lanes}} * n; i++) {{{{ {moved} }}}}"


def changes(bits: int) -> list[Change]:
    words, bytes_ = bits // 32, bits // 8
    byte_permutes = [(), ("vbmi=1",)] if TARGET == "avx512" else [()]
    found = [
        Change("8 x 8 transpose, f32", "transpose(rows=8, cols=8, f32)", (), "float", (64,), (64,),
               TRANSPOSE.format(s=8)),
        Change("3 channels apart, f32", "aos_to_soa(channels=3, f32)", (), "float", (3 * words,),
               (words,) * 3, aos(3).format(lanes=words)),
        Change("4 channels apart, f32", "aos_to_soa(channels=4, f32)", (), "float", (4 * words,),
               (words,) * 4, aos(4).format(lanes=words)),
        Change("3 channels together, f32", "soa_to_aos(channels=3, f32)", (), "float",
               (words,) * 3, (3 * words,),
               f"for (size_t i = 0; i < {words} * n; i++) {{ out[3 * i] = x0[i];"
               " out[3 * i + 1] = x1[i]; out[3 * i + 2] = x2[i]; }"),
    ]  # fmt: skip
    for settings in byte_permutes:
        with_ = ", VBMI" if settings else ""
        found += [
            Change(f"4 rows of bytes interleaved (VNNI pack){with_}", "interleave(k=4, bytes)",
                   settings, "uint8_t", (bytes_,) * 4, (4 * bytes_,),
                   f"for (size_t i = 0; i < {bytes_} * n; i++) {{ {VNNI} }}"),
            Change(f"16 x 16 transpose, bytes{with_}", "transpose(rows=16, cols=16, bytes)",
                   settings, "uint8_t", (256,), (256,), TRANSPOSE.format(s=16)),
        ]  # fmt: skip
    if TARGET == "avx512":
        found.append(
            Change("3 channels apart, bytes, VBMI", "aos_to_soa(channels=3, bytes)", ("vbmi=1",),
                   "uint8_t", (3 * bytes_,), (bytes_,) * 3, aos(3).format(lanes=bytes_))
        )  # fmt: skip
    return found


def names(prefix: str, count: int) -> list[str]:
    return [prefix] if count == 1 else [f"{prefix}{i}" for i in range(count)]


def parameters(change: Change) -> str:
    read = [f"const {change.element} *restrict {n}" for n in names("x", len(change.inputs))]
    written = [f"{change.element} *restrict {n}" for n in names("out", len(change.outputs))]
    return ", ".join(["size_t n", *read, *written])


def plain_text(change: Change) -> str:
    head = f"void plain({parameters(change)})"
    return f"#include <stddef.h>\n#include <stdint.h>\n{head};\n{head} {{ {change.loop} }}\n"


def main_text(change: Change, function: str) -> str:
    """What the harness needs: the arrays, and both functions called on them."""
    arrays = [*names("x", len(change.inputs)), *names("out", len(change.outputs))]
    sizes = [*change.inputs, *change.outputs]
    lines = [
        "#include <stddef.h>", "#include <stdint.h>", f"#define BLOCKS {BLOCKS}",
        f"typedef {change.element} element;",
        f"void plain({parameters(change)});", f"void {function}_blocks({parameters(change)});",
        *(f"static element {name}[{size} * BLOCKS] __attribute__((aligned(64)));"
          for name, size in zip(arrays, sizes, strict=True)),
        f"static void run_plain(void) {{ plain(BLOCKS, {', '.join(arrays)}); }}",
        f"static void run_found(void) {{ {function}_blocks(BLOCKS, {', '.join(arrays)}); }}",
        "static struct { element *at; size_t size; int output; } arrays[] = {",
        *(f"    {{{name}, sizeof {name}, {int(name.startswith('out'))}}},"
          for name in arrays),
        "};",
        f'#include "{HARNESS}"',
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def found_code(change: Change, out: Path) -> dict[str, object]:
    settings = [word for setting in change.settings for word in ("--set", setting)]
    command = [*HBC, "synth", "--spec", change.spec, *settings, "--target", TARGET, "--json"]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    value: dict[str, object] = json.loads(answer.stdout)
    out.write_text(str(value["code"]), encoding="utf-8")
    return value


def times(change: Change, compiler: str, folder: Path) -> tuple[float, float]:
    """Nanoseconds for a block: of the found code, of the plain loop."""
    (folder / "plain.c").write_text(plain_text(change), encoding="utf-8")
    program = folder / f"run_{compiler}"
    sources = [str(folder / name) for name in ("found.c", "plain.c", "main.c")]
    subprocess.run([compiler, *PLAIN, *sources, "-o", str(program)], check=True)
    turns: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        answer = subprocess.run([str(program)], capture_output=True, text=True, check=True)
        found, plain = (float(word) for word in answer.stdout.split())
        turns.append((found, plain))
    return statistics.median(t[0] for t in turns), statistics.median(t[1] for t in turns)


def main() -> None:
    compilers = [c for c in ("gcc", "clang") if shutil.which(c)]
    heads = ["change", "instructions", "minimal"]
    heads += [f"{c}: found ns | plain loop ns | times" for c in compilers]
    columns = " | ".join(heads)
    print(f"| {columns} |")
    print("|" + " --- |" * (columns.count("|") + 1))
    for change in changes(512 if TARGET == "avx512" else 256):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            facts = found_code(change, folder / "found.c")
            (folder / "main.c").write_text(main_text(change, str(facts["function"])))
            cells = [change.title, str(facts["instructions"]), "yes" if facts["minimal"] else "no"]
            for compiler in compilers:
                found, plain = times(change, compiler, folder)
                cells += [f"{found:.2f}", f"{plain:.2f}", f"{plain / found:.1f}"]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
