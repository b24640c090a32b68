"""The C compilers of this machine: finding one, its flags, building objects and libraries."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from hbc.codegen.c import CSource
from hbc.codegen.cross import cross_commands, is_foreign, no_cross_compiler
from hbc.codegen.refused_text import Refused, refusal
from hbc.ir.diag import Diagnostic, ToolError
from hbc.ir.record import record
from hbc.ir.target import ARM, Target

Output = Literal["so", "a", "obj"]
TIMEOUT = 300  # seconds; a 10,000-line kernel takes gcc some 20
SUFFIX: dict[Output, str] = {"so": ".so", "a": ".a", "obj": ".o"}

# Contraction is off because a*b+c is already spelled as fma where the target has it: every compiler
# then gives the same bits. Nothing reads errno or the exception flags, and without them sqrt is one
# instruction and comparisons vectorize.
# What a user's own instruction calls is refused by name where nothing declares it: older compilers let
# it pass, until the library is loaded.
FLAGS = (
    "-std=c11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math",
    "-Werror=implicit-function-declaration",
)  # fmt: skip
# gcc carries loads from one iteration to the next where it can; with 32 accumulators live that means
# spills: a 4 x 4 block of a convolution with 8 taps unrolled runs 3 times slower with it (353 stack
# accesses in the loop against 1, gcc 12).
GCC_FLAGS = ("-fno-predictive-commoning",)
WARNINGS = ("-Wall", "-Wextra")
NO_ROOM = os.strerror(errno.ENOSPC)  # as compilers and assemblers say it
SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g", "-O1")


@record
class Compiler:
    """A command that compiles C. `kind` decides the spelling of a few flags."""

    command: tuple[str, ...]
    kind: Literal["gcc", "clang", "zig"]
    version: str

    def __str__(self) -> str:
        return self.version


def find_compiler(machine: str = "") -> Compiler:
    """$CC, else gcc, clang, cc or PyPI's ziglang; for another machine than this one, a compiler that
    makes code for it. ToolError names what to install."""
    if is_foreign(machine):
        if crossing := cross_compilers(machine):
            return crossing[0]
        raise no_cross_compiler(machine)
    if wanted := shlex.split(os.environ.get("CC", "")):
        if found := _probe(tuple(wanted)):
            return found
        raise ToolError(
            Diagnostic(f"the C compiler `{' '.join(wanted)}`, named by CC, does not run")
        )
    for found in all_compilers():
        return found
    raise ToolError(
        Diagnostic("no C compiler: install gcc or clang, or `pip install 'hbc[zig]'` (ziglang)")
    )


def all_compilers() -> list[Compiler]:
    """Every compiler that runs here, the preferred one first, CC aside."""
    commands = [(name,) for name in ("gcc", "clang", "cc") if shutil.which(name)]
    candidates: list[tuple[str, ...]] = [*commands]
    if find_spec("ziglang"):
        candidates.append((sys.executable, "-m", "ziglang", "cc"))
    return [found for c in candidates if (found := _probe(c))]


def cross_compilers(machine: str) -> list[Compiler]:
    """Every compiler here that makes code for another machine, the preferred one first."""
    return [found for c in cross_commands(machine) if (found := _probe(c))]


@cache
def _probe(command: tuple[str, ...]) -> Compiler | None:
    try:
        answer = subprocess.run(
            [*command, "--version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if answer.returncode != 0 or not answer.stdout:
        return None
    version = answer.stdout.splitlines()[0].strip()
    if "ziglang" in command or Path(command[0]).name == "zig":
        return Compiler(command, "zig", f"zig cc, {version}")
    return Compiler(command, "clang" if "clang" in version else "gcc", version)


@cache
def has_openmp(compiler: Compiler) -> bool:
    """Whether a program that uses OpenMP compiles and links."""
    program = "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n"
    with tempfile.TemporaryDirectory(prefix="hbc-") as folder:
        source = Path(folder, "probe.c")
        source.write_text(program, encoding="ascii")
        arguments = [*compiler.command, "-fopenmp", str(source), "-o", str(Path(folder, "probe"))]
        return run_tool(arguments).returncode == 0


def openmp_note(source: CSource, compiler: Compiler) -> str | None:
    """What to tell the user when `parallel` loops will run on one thread, else None."""
    if not source.parallel or has_openmp(compiler):
        return None
    return f"{compiler} has no OpenMP: `parallel` loops run on one thread"


def flags(
    source: CSource, target: Target, compiler: Compiler, *, sanitize: bool = False
) -> list[str]:
    """The options for compiling `source`, without input and output."""
    wanted = dict.fromkeys((*target.flags, *source.flags))
    options = [*FLAGS, *(_target_flag(f, compiler) for f in wanted)]
    if compiler.kind == "zig" and target.machine != ARM:
        options.insert(len(FLAGS), "-mcpu=baseline")  # zig's default is all that this processor has
    if compiler.kind == "gcc":
        options += GCC_FLAGS
    if compiler.kind == "zig" and not sanitize:
        options.append("-fno-sanitize=all")  # zig's default is a trap on undefined behaviour
    if sanitize:
        options += SANITIZE
    if source.parallel and has_openmp(compiler):
        options.append("-fopenmp")
    return options


def _target_flag(flag: str, compiler: Compiler) -> str:
    """zig writes generic+v8_2a where gcc and clang write armv8.2-a."""
    arm = re.fullmatch(r"-march=armv8(?:\.(\d))?-a(.*)", flag)
    if compiler.kind != "zig" or arm is None:
        return flag
    return f"-mcpu=generic+v8{f'_{arm[1]}' if arm[1] else ''}a{arm[2]}"


def build(
    source: CSource,
    target: Target,
    out: Path,
    kind: Output = "so",
    *,
    compiler: Compiler | None = None,
    sanitize: bool = False,
    extra: Sequence[str] = (),
) -> Path:
    """Compiles `source` into the file `out`, complete or not at all. ToolError: no compiler, or it
    takes longer than TIMEOUT. InternalError: it refuses our text. HbcError: it refuses a text with an
    instruction that the user describes."""
    compiler = compiler or find_compiler(target.machine)
    options = [*flags(source, target, compiler, sanitize=sanitize), *extra]
    with tempfile.TemporaryDirectory(prefix=".hbc-", dir=folder_of(out)) as folder:
        text = Path(folder, f"{source.name}.c")
        text.write_text(source.text, encoding="utf-8")
        Path(folder, f"{source.name}.h").write_text(source.header, encoding="utf-8")
        made = Path(folder, f"made{SUFFIX[kind]}")
        if kind == "so":
            _compile([*compiler.command, *options, "-fPIC", "-shared", str(text), "-o", str(made),
                      "-lm"], source)  # fmt: skip
        else:
            compiled = made if kind == "obj" else Path(folder, f"{source.name}.o")
            _compile([*compiler.command, *options, "-fPIC", "-c", str(text), "-o", str(compiled)],
                     source)  # fmt: skip
            if kind == "a":
                _compile([*_archiver(compiler), "rcsD", str(made), str(compiled)], source)
        made.replace(out)
    return out


def link_program(
    driver: Path, objects: Sequence[Path], out: Path, compiler: Compiler, source: CSource
) -> None:
    """Compiles a C file with a `main` and links it with the objects of `source`, whose name is its
    macro KERNEL, into a program that needs no shared libraries."""
    options = ["-std=gnu11", "-O2", "-static", f"-DKERNEL={source.name}"]
    if source.parallel and has_openmp(compiler):
        options.append("-fopenmp")
    files = [str(driver), *(str(o) for o in objects)]
    _compile([*compiler.command, *options, *files, "-o", str(out), "-lm"], source)


def build_cached(
    source: CSource,
    target: Target,
    *,
    compiler: Compiler | None = None,
    sanitize: bool = False,
) -> Path:
    """The shared library for `source`, from the cache when the same was built before."""
    compiler = compiler or find_compiler()
    options = flags(source, target, compiler, sanitize=sanitize)
    key = hashlib.sha256()
    for part in (compiler.version, *compiler.command, *options, source.text, source.header):
        key.update(part.encode() + b"\0")
    out = cache_folder() / f"{source.name}-{target.name}-{key.hexdigest()[:32]}.so"
    if not out.exists():
        build(source, target, out, "so", compiler=compiler, sanitize=sanitize)
    return out


def cache_folder() -> Path:
    """Where compiled kernels are kept; $HBC_CACHE overrides the system's place."""
    from platformdirs import user_cache_path

    override = os.environ.get("HBC_CACHE")
    folder = Path(override) if override else user_cache_path("hbc", appauthor=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise ToolError(
            Diagnostic(
                f"cannot make the cache folder `{folder}`: {e.strerror}",
                hint="name another one with the environment variable HBC_CACHE",
            )
        ) from e
    return folder


def folder_of(out: Path) -> Path:
    return out.parent if str(out.parent) else Path()


def _archiver(compiler: Compiler) -> list[str]:
    if compiler.kind == "zig":
        return [*compiler.command[:-1], "ar"]
    if found := shutil.which("ar") or shutil.which("llvm-ar"):
        return [found]
    raise ToolError(Diagnostic("no `ar` for making a static library: install binutils"))


def _compile(arguments: list[str], source: CSource) -> None:
    answer = run_tool(arguments)
    if answer.returncode != 0:
        if NO_ROOM in answer.stderr:
            raise ToolError(
                Diagnostic(f"`{arguments[0]}`: {NO_ROOM}", hint="TMPDIR names another folder")
            )
        file = f"{source.name}.c"
        raise refusal(
            Refused("the C compiler", file, source.text, source.instructions, answer.stderr)
        )


def run_tool(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            arguments, capture_output=True, text=True, timeout=TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired as e:
        message = f"`{arguments[0]}` took longer than {TIMEOUT} s"
        raise ToolError(Diagnostic(message, hint="unroll or vectorize less")) from e
    except OSError as e:
        raise ToolError(Diagnostic(f"cannot run `{arguments[0]}`: {e.strerror}")) from e
