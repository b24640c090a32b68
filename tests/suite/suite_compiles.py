"""What compilers made for tests, kept in build/compiled: the same command on the same texts is not run again.

The key is all that decides what comes out: the compiler's file, the options, the text and what lies
beside it, every folder of headers that the command names, the templates, when system headers last
changed. An answer is kept only where the compiler succeeded and said nothing; where a test has changed
the environment, or put something in the compiler's place, the compiler runs. HBC_TEST_COMPILES=run
makes it run always; a folder's name there means that folder.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "compiled"
TEMPLATES = ROOT / "codegen" / "templates"
VARIABLE = "HBC_TEST_COMPILES"
HEADERS = "headers"
"""The folder in it of headers that are compiled: suite_headers.py."""
DAYS = 7
"""What was not asked for so long is removed."""

TEXTS = {".h", ".c", ".cpp", ".cu", ".inc"}
MOST_TEXTS = 200
"""In a folder that a command names: one with more is not read, and the compiler runs."""
SYSTEM = (
    "/usr/include",
    "/usr/include/x86_64-linux-gnu",
    "/usr/include/x86_64-linux-gnu/bits",
    "/usr/lib/gcc",
)

Answer = subprocess.CompletedProcess[str]
Compile = Callable[[Sequence[str], Path], Answer]


class Unknown(Exception):
    """What the command reads is not known."""


@dataclass
class Compiles:
    """Stands for `compile_with`; `real` is the one of hbc, `untouched` says that no test is in its way."""

    real: Compile
    folder: Path = FOLDER
    environment: Mapping[str, str] = field(default_factory=lambda: _environment())
    popen: object = subprocess.Popen
    faster: Callable[[Sequence[str]], Sequence[str]] = list
    """The same command, sooner done: see suite_headers.py."""
    hits: int = 0
    runs: int = 0

    def __call__(self, arguments: Sequence[str], made: Path) -> Answer:
        try:
            name = self.key(arguments, made)
        except (Unknown, OSError):
            return self.real(arguments, made)
        kept = self.folder / name
        with suppress(OSError):
            shutil.copy(kept, made)
            os.utime(kept)
            self.hits += 1
            return subprocess.CompletedProcess(list(arguments), 0, "", "")
        sooner = self.faster(arguments)
        answer = self.real(sooner, made)
        if answer.returncode != 0 and list(sooner) != list(arguments):
            answer = self.real(arguments, made)  # what is said of the text is said of it as it is
        self.runs += 1
        if answer.returncode == 0 and not answer.stdout and not answer.stderr:
            with suppress(OSError):
                keep(made, kept)
        return answer

    def key(self, arguments: Sequence[str], made: Path) -> str:
        """Unknown where the command is not one that can be answered from files."""
        if _environment() != self.environment or subprocess.Popen is not self.popen:
            raise Unknown
        digest = hashlib.sha256()
        for part in parts(arguments, made):
            digest.update(len(part).to_bytes(8, "little") + part)
        return digest.hexdigest()


def parts(arguments: Sequence[str], made: Path) -> Iterator[bytes]:
    """All that decides what a command makes. The names of folders do not, but for what it says of itself."""
    yield from (binary(arguments[0]), templates(), system())
    for word in arguments[1:]:
        flag, path = ("-I", word[2:]) if word.startswith("-I") else ("", word)
        file = Path(path)
        if file == made:
            yield b"made " + made.suffix.encode()
        elif path and "/" in path and file.is_dir():
            yield flag.encode()
            yield from texts(file)
        elif "/" in path and file.is_file():
            yield file.name.encode()
            yield file.read_bytes()
            yield from texts(file.parent)
        elif "/" in path and not flag:
            raise Unknown  # a file that it writes beside, or names in another way
        elif "native" in word:
            raise Unknown  # asks the processor
        else:
            yield word.encode()


def texts(folder: Path) -> Iterator[bytes]:
    files = sorted(f for f in folder.iterdir() if f.suffix in TEXTS)
    if len(files) > MOST_TEXTS:
        raise Unknown
    for file in files:
        yield file.name.encode()
        yield file.read_bytes()


def keep(made: Path, kept: Path) -> None:
    """Copies beside and renames: another process sees all of it or nothing."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    handle, beside = tempfile.mkstemp(dir=kept.parent, prefix=".new-")
    os.close(handle)
    try:
        shutil.copy(made, beside)
        Path(beside).replace(kept)
    except BaseException:
        Path(beside).unlink()
        raise


def forget(folder: Path = FOLDER, days: float = DAYS) -> None:
    """Removes what was not asked for in so many days."""
    oldest = time.time() - days * 24 * 3600
    for kept in (folder, folder / HEADERS):
        for file in kept.iterdir() if kept.is_dir() else ():
            with suppress(OSError):
                if file.stat().st_mtime < oldest and file.name != HEADERS:
                    shutil.rmtree(file) if file.is_dir() else file.unlink()


def _environment() -> dict[str, str]:
    """Which programs and headers compilers find, and where they write."""
    names = ("PATH", "TMPDIR", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH",
             "LD_LIBRARY_PATH", "LD_PRELOAD", "COMPILER_PATH", "GCC_EXEC_PREFIX")  # fmt: skip
    return {n: os.environ[n] for n in names if n in os.environ}


@cache
def binary(command: str) -> bytes:
    """The file behind a compiler's name: a program, no script, which may do anything."""
    found = shutil.which(command)
    if found is None:
        raise Unknown
    file = Path(found).resolve()
    with file.open("rb") as stream:
        if stream.read(4) != b"\x7fELF":
            raise Unknown
    about = file.stat()
    return f"{file} {about.st_size} {about.st_mtime_ns}".encode()


@cache
def templates() -> bytes:
    digest = hashlib.sha256()
    for part in texts(TEMPLATES):
        digest.update(part)
    return digest.digest()


@cache
def system() -> bytes:
    """When system headers last changed."""
    folders = (Path(name) for name in SYSTEM)
    return " ".join(str(f.stat().st_mtime_ns) for f in folders if f.is_dir()).encode()
