"""The C compilers of this machine: finding one, its flags, building objects and libraries."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from hbc.codegen.build.cross import cross_commands, is_foreign, no_cross_compiler
from hbc.codegen.c.build_text import GCC_OPTIONS, OPTIONS
from hbc.codegen.c.source import CSource
from hbc.ir.ground.diag import Diagnostic, ToolError
from hbc.ir.ground.record import record
from hbc.ir.host import cache_folder as private_cache
from hbc.ir.host.on_path import on_path
from hbc.ir.host.scratch import process_folder, scratch_folder
from hbc.ir.lang.target import X86, Target

Output = Literal["so", "a", "obj"]
SUFFIX: dict[Output, str] = {"so": ".so", "a": ".a", "obj": ".o"}

# What a user's own instruction calls is refused by name where nothing declares it: older compilers let
# it pass, until the library is loaded.
FLAGS = (*OPTIONS, "-Werror=implicit-function-declaration")
WARNINGS = ("-Wall", "-Wextra")
OPENMP = {"gcc": "libgomp", "clang": "libomp", "zig": "libomp"}
PROBE_BYTES = 1 << 20  # about what a library and its sources take
SCRIPT = b"#!"
SETTLED_SECONDS = 2.0  # longer than any file system takes to tell two changes of a file apart
PROBE_SECONDS = 60.0  # for a compiler to say what it is
# Lines, which is what sanitizers say: all that debuggers read is a third of the time that a compiler takes.
SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g1", "-O1")


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
    if wanted := _words(os.environ.get("CC", "")):
        if compiler := _probe(tuple(wanted)):
            return compiler
        raise ToolError(
            Diagnostic(f"the C compiler `{' '.join(wanted)}`, named by CC, does not run")
        )
    for command in _commands():
        if compiler := _probe(command):
            return compiler
    raise ToolError(
        Diagnostic("no C compiler: install gcc or clang, or `pip install 'hbc[zig]'` (ziglang)")
    )


def all_compilers() -> list[Compiler]:
    """Every compiler that runs here, the preferred one first, CC aside."""
    return [compiler for c in _commands() if (compiler := _probe(c))]


def first_compiler(commands: Sequence[tuple[str, ...]]) -> Compiler | None:
    """The first of the commands that runs."""
    return next((compiler for c in commands if (compiler := _probe(c))), None)


def _words(line: str) -> list[str]:
    """As a shell reads it."""
    if not line:
        return []
    import shlex

    return shlex.split(line)


def _commands() -> list[tuple[str, ...]]:
    commands: list[tuple[str, ...]] = [(name,) for name in ("gcc", "clang", "cc") if on_path(name)]
    if find_spec("ziglang"):
        commands.append((sys.executable, "-m", "ziglang", "cc"))
    return commands


def cross_compilers(machine: str) -> list[Compiler]:
    """Every compiler here that makes code for another machine, the preferred one first."""
    return [compiler for c in cross_commands(machine) if (compiler := _probe(c))]


@cache
def _probe(command: tuple[str, ...]) -> Compiler | None:
    name = _kept_version(command)
    known = private_cache.kept(name) if name else None
    version = known.decode("utf-8", "replace") if known is not None else _asked_version(command)
    if version is None:
        return None
    if known is None and name:
        private_cache.keep(name, version.encode())
    if "ziglang" in command or Path(command[0]).name == "zig":
        return Compiler(command, "zig", f"zig cc, {version}")
    return Compiler(command, "clang" if "clang" in version else "gcc", version)


def _asked_version(command: tuple[str, ...]) -> str | None:
    """The first line of what the compiler says of itself; None where it does not run."""
    from hbc.codegen.build.run_tool import run_tool  # here, and below: it takes 8 ms

    try:
        answer = run_tool([*command, "--version"], PROBE_SECONDS)
    except ToolError as failure:
        why = failure.__cause__
        if isinstance(why, OSError) and why.errno in (errno.EMFILE, errno.ENFILE):
            raise  # of handles there are too few for any compiler
        return None
    lines = answer.stdout.strip().splitlines()
    return lines[0].strip() if answer.returncode == 0 and lines else None


def _kept_version(command: tuple[str, ...]) -> str | None:
    """What its version is kept under, so that it need not be started; None where the same file may say
    another tomorrow: scripts, programs of other names such as ccache, and on macOS, whose `clang` starts the
    one that is selected."""
    if sys.platform != "linux":
        return None
    try:
        place = Path(on_path(command[0]) or command[0]).resolve()
        seen = place.stat()
        with place.open("rb") as file:
            if file.read(len(SCRIPT)) == SCRIPT:
                return None
    except OSError:
        return None
    of_its_own = any(kind in place.name for kind in ("gcc", "clang"))
    if not of_its_own or time.time() < max(seen.st_mtime, seen.st_ctime) + SETTLED_SECONDS:
        return None
    numbers = seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino
    return (
        f"compiler-{hashlib.sha256(repr((command, str(place), numbers)).encode()).hexdigest()[:32]}"
    )


@cache
def has_openmp(compiler: Compiler) -> bool:
    """Whether a program that uses OpenMP compiles and links: asked once of each compiler that can, as long as
    the library lies where it lay. One that cannot may find the library tomorrow."""
    asked = hashlib.sha256("\0".join(_identity(compiler)).encode()).hexdigest()[:32]
    name = f"openmp-{asked}"
    library = private_cache.kept(name)
    if library is not None and Path(os.fsdecode(library)).is_file():
        return True
    if not _links_openmp(compiler):
        return False
    if (found := _openmp_library(compiler)) is not None:
        private_cache.keep(name, os.fsencode(found))
    return True


def _openmp_library(compiler: Compiler) -> Path | None:
    """The file that `-fopenmp` links, as the compiler names it."""
    from hbc.codegen.build.run_tool import run_tool

    for suffix in ("so", "dylib", "a"):
        library = f"{OPENMP[compiler.kind]}.{suffix}"
        answer = run_tool([*compiler.command, f"-print-file-name={library}"], PROBE_SECONDS)
        path = Path(answer.stdout.strip())
        if answer.returncode == 0 and path.is_absolute() and path.is_file():
            return path
    return None


def _links_openmp(compiler: Compiler) -> bool:
    from hbc.codegen.build.run_tool import run_tool

    program = "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n"
    with scratch_folder() as folder:
        source, made = folder / "probe.c", folder / "probe"
        source.write_text(program, encoding="ascii")
        command = [*compiler.command, "-fopenmp", str(source), "-o", str(made)]
        answer = run_tool(command, temporary=folder)
        return answer.returncode == 0 and made.exists()


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
    options = [*FLAGS, *(spelled(f, compiler.kind) for f in wanted)]
    if compiler.kind == "zig" and target.machine in ("", X86):
        options.insert(len(FLAGS), "-mcpu=baseline")  # zig's default is all that this processor has
    if compiler.kind == "gcc":
        options += GCC_OPTIONS
    if compiler.kind == "zig" and not sanitize:
        options.append("-fno-sanitize=all")  # zig's default is a trap on undefined behaviour
    if sanitize:
        options += SANITIZE
    if source.parallel and has_openmp(compiler):
        options.append("-fopenmp")
    return options


def spelled(flag: str, kind: str) -> str:
    """An option of a target as a kind of compiler has it: zig writes generic+v8_2a where gcc and clang write
    armv8.2-a, and baseline_rv64+v for rv64gcv."""
    if kind != "zig":
        return flag
    if arm := re.fullmatch(r"-march=armv8(?:\.(\d))?-a(.*)", flag):
        return f"-mcpu=generic+v8{f'_{arm[1]}' if arm[1] else ''}a{arm[2]}"
    if riscv := re.fullmatch(r"-march=rv64gcv(\w*)", flag):
        return f"-mcpu=baseline_rv64+v{riscv[1].replace('_', '+')}"
    return flag


def build(
    source: CSource,
    target: Target,
    out: Path,
    kind: Output = "so",
    *,
    compiler: Compiler | None = None,
    sanitize: bool = False,
    extra: Sequence[str] = (),
    called: str = "",
) -> Path:
    """Compiles `source` into the file `out`, complete or not at all. `called`: as programs that are linked
    with a library look for it on Windows and macOS, where `out` is renamed later. ToolError: no compiler,
    or it takes longer than TIMEOUT. InternalError: it refuses our text. HbcError: it refuses a text with an
    instruction that the user describes."""
    compiler = compiler or find_compiler(target.machine)
    options = [*flags(source, target, compiler, sanitize=sanitize), *extra]
    with scratch_folder(folder_of(out)) as folder:
        text = folder / f"{source.name}.c"
        text.write_text(source.text, encoding="utf-8")
        (folder / f"{source.name}.h").write_text(source.header, encoding="utf-8")
        made = folder / (called or f"made{SUFFIX[kind]}")
        if kind == "so":
            _compile([*compiler.command, *options, *_named(called), "-fPIC", "-shared", str(text), "-o",
                      str(made), "-lm"], made, source)  # fmt: skip
        else:
            compiled = made if kind == "obj" else folder / f"{source.name}.o"
            _compile([*compiler.command, *options, "-fPIC", "-c", str(text), "-o", str(compiled)],
                     compiled, source)  # fmt: skip
            if kind == "a":
                _compile([*_archiver(compiler), "rcsD", str(made), str(compiled)], made, source)
        made.replace(out)
    return out


def build_together(
    parts: Sequence[tuple[CSource, Target]],
    out: Path,
    kind: Literal["so", "a"],
    compiler: Compiler | None = None,
    called: str = "",
) -> None:
    """Compiles each source with the flags of its own target, and all into one library. `called` and errors
    as in `build`."""
    compiler = compiler or find_compiler(next((t.machine for _, t in parts if t.machine), ""))
    with scratch_folder(folder_of(out)) as folder:
        objects = [
            str(build(source, target, folder / f"{source.name}.o", "obj", compiler=compiler))
            for source, target in parts
        ]
        made = folder / (called or f"made{SUFFIX[kind]}")
        threads = any(s.parallel for s, _ in parts) and has_openmp(compiler)
        options = ["-fopenmp"] if threads else []
        linked = [
            *compiler.command,
            *options,
            *_named(called),
            "-shared",
            *objects,
            "-o",
            str(made),
            "-lm",
        ]
        archived = [*_archiver(compiler), "rcsD", str(made), *objects]
        _compile(linked if kind == "so" else archived, made, parts[0][0])
        made.replace(out)


def _named(called: str) -> list[str]:
    """Windows takes the name of the file for that of the library, macOS its whole path."""
    return [f"-Wl,-install_name,@rpath/{called}"] if called.endswith(".dylib") else []


def assembly_of(source: CSource, target: Target, compiler: Compiler | None = None) -> str:
    """What the compiler makes of `source`, as text that names the lines of the C. Errors as in `build`."""
    compiler = compiler or find_compiler(target.machine)
    options = [*flags(source, target, compiler), "-S", "-g1", "-fno-asynchronous-unwind-tables"]
    if target.machine == X86:
        options.append("-masm=intel")
    with scratch_folder() as folder:
        text, made = folder / f"{source.name}.c", folder / f"{source.name}.s"
        text.write_text(source.text, encoding="utf-8")
        (folder / f"{source.name}.h").write_text(source.header, encoding="utf-8")
        _compile([*compiler.command, *options, str(text), "-o", str(made)], made, source)
        return made.read_text(encoding="utf-8", errors="replace")


def link_program(
    driver: Path, objects: Sequence[Path], out: Path, compiler: Compiler, source: CSource
) -> None:
    """Compiles a C file with a `main` and links it with the objects of `source`, whose name is its
    macro KERNEL, into a program that needs no shared libraries."""
    options = ["-std=gnu11", "-O2", "-static", f"-DKERNEL={source.name}"]
    if source.parallel and has_openmp(compiler):
        options.append("-fopenmp")
    files = [str(driver), *(str(o) for o in objects)]
    _compile([*compiler.command, *options, *files, "-o", str(out), "-lm"], out, source)


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
    return kept_library(
        f"{source.name}-{target.name}-{_key(source, compiler, options)}.so",
        lambda out: build(source, target, out, "so", compiler=compiler, sanitize=sanitize),
    )


def build_kept(source: CSource, target: Target, out: Path, compiler: Compiler) -> Path:
    """The shared library for `source` at `out`: a copy of what was built before, where that was kept."""
    name = f"{target.name}-{_key(source, compiler, flags(source, target, compiler))}.library"
    stored = private_cache.kept(name)
    if stored is not None:
        out.write_bytes(stored)
        return out
    build(source, target, out, compiler=compiler)
    private_cache.keep(name, out.read_bytes())
    return out


def _key(source: CSource, compiler: Compiler, options: Sequence[str]) -> str:
    """What decides the bytes of a library."""
    key = hashlib.sha256()
    for part in (*_identity(compiler), *options, source.name, source.text, source.header):
        key.update(part.encode() + b"\0")
    return key.hexdigest()[:32]


def _identity(compiler: Compiler) -> tuple[str, ...]:
    """The command, what it says of itself, and which file it is."""
    try:
        place = Path(on_path(compiler.command[0]) or compiler.command[0]).resolve()
        seen = place.stat()
        which = f"{place} {seen.st_size} {seen.st_mtime_ns}"
    except OSError:
        which = "unknown"
    return compiler.version, *compiler.command, which


def kept_library(name: str, make: Callable[[Path], object]) -> Path:
    """The library of that name: from the cache when it is intact there, else what `make` writes; where the
    cache cannot hold it, into a folder for this process."""
    folder = cache_folder()
    try:
        return private_cache.kept_file(folder / name, make)
    except (OSError, ToolError):
        own = process_folder()
        if folder == own or _can_hold(folder):
            raise
        return private_cache.kept_file(own / name, make)


def cache_folder() -> Path:
    """Where compiled kernels are kept; where there can be no such folder, or others may write in it, one for
    this process instead."""
    return private_cache.cache_folder() or process_folder()


def _can_hold(folder: Path) -> bool:
    """Whether a file can be written there: it is not read-only, and not full."""
    import tempfile  # here, and in files beside: what is in the cache is loaded without

    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(PROBE_BYTES))
            file.flush()
    except OSError:
        return False
    return True


def folder_of(out: Path) -> Path:
    return out.parent if str(out.parent) else Path()


def _archiver(compiler: Compiler) -> list[str]:
    if compiler.kind == "zig":
        return [*compiler.command[: compiler.command.index("cc")], "ar"]
    crossing = compiler.command[0].removesuffix("gcc") + "ar"  # aarch64-linux-gnu-ar
    if crossing.endswith("-ar") and on_path(crossing):
        return [crossing]
    if path := on_path("ar") or on_path("llvm-ar"):
        return [path]
    raise ToolError(Diagnostic("no `ar` for making a static library: install binutils"))


def _compile(arguments: list[str], made: Path, source: CSource) -> None:
    from hbc.codegen.build.run_tool import compile_with

    answer = compile_with(arguments, made)
    if answer.returncode != 0:
        from hbc.codegen.build.refused_text import Refused, refusal

        file, said = f"{source.name}.c", answer.stderr
        raise refusal(Refused("the C compiler", file, source.text, source.instructions, said))
