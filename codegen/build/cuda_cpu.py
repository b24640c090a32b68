"""CUDA on the CPU: the `.cu` text as C++ for g++, compiled against `templates/cuda_on_cpu.h`.

Two things in it are no C++: launches and shared arrays without an extent. They are rewritten; and
templates over the type of indices are written out, because g++ forgets in them which variables are
shared. The rest, and all line numbers, stay.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from hbc.codegen.build.refused_text import Refused, refusal
from hbc.codegen.build.run_tool import compile_with, run_tool
from hbc.codegen.build.toolchain import folder_of, kept_library
from hbc.ir.ground.diag import Diagnostic, InternalError, ToolError
from hbc.ir.host.scratch import scratch_folder
from hbc.ir.lang.instruction import Instruction

TEMPLATES = Path(__file__).parents[1] / "templates"
Kind = Literal["so", "program"]
Sanitizer = Literal["", "address", "thread"]

# Values of the environment variable CUDA_ON_CPU_ORDER, which is read at each launch: in which order
# threads and blocks run. Numbers are seeds. Each is another chance for a missing barrier to show.
ORDERS = ("forward", "backward", "1", "2", "3")
ORDER_VARIABLE = "CUDA_ON_CPU_ORDER"

# Headers of CUDA that all are this one on the CPU.
HEADERS = (
    "cuda.h", "cuda_bf16.h", "cuda_fp16.h", "cuda_pipeline.h", "cuda_pipeline_primitives.h",
    "cuda_runtime.h", "cuda_runtime_api.h", "device_launch_parameters.h", "mma.h",
)  # fmt: skip
FLAGS = ("-std=c++17", "-O1", "-ffp-contract=off", "-fno-strict-aliasing", "-Wall", "-Wextra",
         "-Wno-unused-function", "-Wno-unknown-pragmas")  # fmt: skip
# What sanitizers say names lines. Information for debuggers is a third of the time that a compiler takes.
SANITIZE: dict[Sanitizer, tuple[str, ...]] = {
    "": (),
    "address": ("-fsanitize=address,undefined", "-fno-sanitize-recover=all",
                "-fsanitize-sections=cuda_shared", "-g1"),
    "thread": ("-fsanitize=thread", "-g1"),
}  # fmt: skip

_SKIPPED = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
_KERNEL = re.compile(r"([A-Za-z_]\w*(?:(?:::|##)\w+)*\s*(?:<[^;{}]*>)?)\s*\Z")
# GCC bug 41091: it ignores the section of a static variable in a template.
_TEMPLATE = re.compile(r"^template <class index_t>\n(static .*?^\}\n)", re.MULTILINE | re.DOTALL)
_TEMPLATE_NAME = re.compile(r"\bvoid (\w+)\(")
_UNSIZED = re.compile(
    r"extern\s+__shared__\s+(?:__align__\s*\(\s*\d+\s*\)\s+)?(?:alignas\s*\(\s*\d+\s*\)\s+)?"
    r"(?P<type>[\w\s]+?)\s*\b(?P<name>\w+)\s*\[\s*\]\s*;"
)


def as_cpp(text: str) -> str:
    """The `.cu` text as C++. InternalError for a launch that is not understood."""
    launched = _instantiated(_with_launchers(text))
    return _UNSIZED.sub(
        lambda m: (
            f"{m['type']} *const {m['name']} = "
            f"reinterpret_cast<{m['type']} *>(cuda_on_cpu::dynamic_shared_memory);"
        ),
        launched,
    )


def build(
    text: str, out: Path, kind: Kind = "so", *, name: str = "kernel", sanitize: Sanitizer = "",
    extra: Sequence[str] = (), instructions: Sequence[Instruction] = (),
) -> Path:  # fmt: skip
    """Compiles a `.cu` text with these instructions into the file `out`, complete or not at all.
    ToolError without a C++ compiler; when it refuses the text, InternalError, or HbcError where one
    of the instructions is the user's."""
    compiler = find_cpp()
    with scratch_folder(folder_of(out)) as folder:
        for header in HEADERS:
            (folder / header).write_text("#pragma once\n", encoding="ascii")
        source = folder / f"{name}.cpp"
        source.write_text(f'#line 1 "{name}.cu"\n{as_cpp(text)}', encoding="utf-8")
        made = folder / "made"
        shared = ("-fPIC", "-shared") if kind == "so" else ()
        command = [
            compiler, *_flags(compiler, sanitize), *extra, *shared, "-I", str(folder), "-I", str(TEMPLATES),
            "-include", str(TEMPLATES / "cuda_on_cpu.h"), str(source), "-o", str(made), "-lm",
        ]  # fmt: skip
        answer = compile_with(command, made)
        if answer.returncode != 0:
            file = f"{name}.cu"
            raise refusal(Refused(compiler, file, text, tuple(instructions), answer.stderr))
        made.replace(out)
    return out


def build_cached(
    text: str, kind: Kind = "so", *, name: str = "kernel", sanitize: Sanitizer = ""
) -> Path:
    """As `build`, into the cache, unless the same was built before."""
    compiler = find_cpp()
    key = hashlib.sha256()
    for part in (version(compiler), *_flags(compiler, sanitize), kind, text, *_shim()):
        key.update(part.encode() + b"\0")
    suffix = ".so" if kind == "so" else ""
    return kept_library(
        f"{name}-cuda-on-cpu-{key.hexdigest()[:32]}{suffix}",
        lambda out: build(text, out, kind, name=name, sanitize=sanitize),
    )


def find_cpp() -> str:
    """The C++ compiler. ToolError when there is none."""
    for name in ("g++", "clang++"):
        if shutil.which(name):
            return name
    raise ToolError(Diagnostic("no C++ compiler: install g++, to run CUDA code on the CPU"))


def version(compiler: str) -> str:
    """The first line of what `--version` says."""
    lines = run_tool([compiler, "--version"]).stdout.splitlines()
    return lines[0] if lines else ""


def _flags(compiler: str, sanitize: Sanitizer) -> list[str]:
    flags = [*FLAGS, *SANITIZE[sanitize]]
    if compiler != "g++":
        flags = [flag for flag in flags if not flag.startswith("-fsanitize-sections")]
    return flags


def _shim() -> Iterator[str]:
    for file in sorted(TEMPLATES.glob("cuda_*.h")):
        yield file.read_text(encoding="ascii")


def _instantiated(text: str) -> str:
    """Function templates over `index_t` as one function for each type that they are called with."""
    names: set[str] = set()

    def copies(match: re.Match[str]) -> str:
        (name,) = _TEMPLATE_NAME.findall(match[1])[:1]
        names.add(name)
        line = text.count("\n", 0, match.start(1)) + 1
        parts = []
        for own in sorted(set(re.findall(rf"\b{name}<(\w+)>", text))):
            body = re.sub(r"\bindex_t\b", own, match[1]).replace(f"{name}(", f"{name}_{own}(", 1)
            parts.append(f"#line {line}\n{body}")
        return "".join(parts) + f"#line {line + match[1].count(chr(10))}\n"

    whole = _TEMPLATE.sub(copies, text)
    return re.sub(r"\b(\w+)<(\w+)>\(", lambda m: _called(m, names), whole)


def _called(call: re.Match[str], names: set[str]) -> str:
    return f"{call[1]}_{call[2]}(" if call[1] in names else call[0]


def _with_launchers(text: str) -> str:
    """`k<<<g, b>>>(` becomes `cuda_on_cpu::launcher(k, "k", g, b)(`."""
    masked = _SKIPPED.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    parts: list[str] = []
    done = 0
    while (begin := masked.find("<<<", done)) >= 0:
        end = masked.find(">>>", begin)
        kernel = _KERNEL.search(masked, done, begin)
        if end < 0 or kernel is None:
            line = masked.count("\n", 0, begin) + 1
            raise InternalError(f"line {line}: a launch is written `kernel<<<grid, block>>>(...)`")
        name = text[kernel.start(1) : kernel.end(1)].strip()
        shown = name.replace('"', '\\"')
        parts += [
            text[done : kernel.start(1)],
            f'cuda_on_cpu::launcher({name}, "{shown}", {text[begin + 3 : end]})',
        ]
        done = end + 3
    return "".join([*parts, text[done:]])
