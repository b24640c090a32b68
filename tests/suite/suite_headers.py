"""Large headers, compiled once for each set of options: <immintrin.h> is most of the work for a kernel.

A compiler takes a precompiled header only where its own version and the options are those that it was made
with: gcc reads the text beside it otherwise, clang refuses the command. A text gets a header only where it
includes that itself; so a command means the same with and without. (Clang reads samples as they are in
tests/codegen/c/test_text.py.)
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from suite_compiles import Unknown, binary, system, templates

HEADERS = {name: f"#include <{name}>" for name in ("immintrin.h", "arm_neon.h")}
COMPILER = re.compile(r"(?:[\w-]+-)?(gcc|g\+\+|clang|clang\+\+)(?:-\d+)?")
COMPILED = {"gcc": ".gch", "clang": ".pch"}
"""How the name ends of what they look for beside a header."""
SHIM = "cuda_on_cpu.h"
MOST = 48
"""Sets of options; each takes some 25 MB."""
_NO_OPTION_OF_HEADERS = ("-I", "-l", "-L", "-shared", "-Wl,", "-c", "-S")
_WITH_A_WORD = ("-o", "-include", "-I", "-x", "-T", "-L")


@dataclass
class Precompiled:
    """Commands as they run with what is in `folder`. A header is compiled when it is wanted again."""

    folder: Path
    asked: set[Path] = field(default_factory=set)

    def __call__(self, arguments: Sequence[str]) -> list[str]:
        words = list(arguments)
        if COMPILER.fullmatch(Path(words[0]).name) is None:
            return words
        if "-include" in words:
            at = words.index("-include") + 1
            made = self.made(words, f'#include "{words[at]}"')
            return [*words[:at], str(made), *words[at + 1 :]] if made else words
        wanted = next((h for h in HEADERS if _includes(words, h)), None)
        made = self.made(words, HEADERS[wanted]) if wanted else None
        return [words[0], "-include", str(made), *words[1:]] if made else words

    def made(self, words: list[str], text: str) -> Path | None:
        """The header to include; None when it is asked for the first time, or gcc refuses it."""
        options = [w for w in _options(words) if not w.startswith(_NO_OPTION_OF_HEADERS)]
        compiler = Path(words[0]).name
        of_cpp = "c++" if "++" in compiler else "c"
        ending = COMPILED["clang" if "clang" in compiler else "gcc"]
        try:
            parts = binary(words[0]), system(), templates(), str(self.folder.resolve()).encode()
        except (Unknown, OSError):
            return None
        key = hashlib.sha256("\0".join((*options, text)).encode() + b"\0".join(parts))
        header = self.folder / key.hexdigest()[:24] / "first.h"
        compiled = header.with_name(f"first.h{ending}")
        if compiled.is_file():
            with suppress(OSError):
                os.utime(header.parent)
            return header
        if header not in self.asked:
            self.asked.add(header)
            return None
        if len(self.asked) > MOST:
            return None
        header.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder, prefix=".new-") as made:
            # Clang looks for the header again, by its name: it is written once, the other one as often
            # as processes come for it together.
            first, beside = Path(made) / "first.h", Path(made) / "compiled"
            first.write_text(text + "\n", encoding="ascii")
            with suppress(FileExistsError):
                header.hardlink_to(first)
            command = [words[0], *options, "-x", f"{of_cpp}-header", str(header), "-o", str(beside)]
            answer = subprocess.run(command, capture_output=True, check=False)
            if answer.returncode != 0:
                return None
            beside.rename(compiled)
        return header


def less_optimized(words: Sequence[str]) -> list[str]:
    """What is compiled with -O1, so as not to wait, with -Og by gcc: CUDA for the processor (2.1 s for a
    product of matrices by mma instead of 4.3) and C (a third less for samples), with the warnings that need
    the flow of data. Sanitizers of memory see what they see in code by -O1, and what that leaves out besides;
    under the one of threads programs run longer than compilers. Where gcc refuses, it is asked as it was."""
    compiler = COMPILER.fullmatch(Path(words[0]).name)
    of_gcc = compiler is not None and compiler[1] in ("gcc", "g++")
    levels = [w for w in words if w.startswith("-O")]
    if not of_gcc or levels[-1:] != ["-O1"] or "-fsanitize=thread" in words:
        return list(words)
    return ["-Og" if w == "-O1" else w for w in words]


def linked_sooner(words: Sequence[str], gold: str | None = shutil.which("ld.gold")) -> list[str]:
    """C++ with gold for a linker, where there is one: 29 ms for a kernel with the shim instead of 93. What
    sanitizers put in is linked as it is."""
    links = "++" in Path(words[0]).name and not {"-c", "-S", "-E", "-fsyntax-only"} & set(words)
    if gold is None or not links or any(w.startswith(("-fsanitize", "-fuse-ld")) for w in words):
        return list(words)
    return [words[0], "-fuse-ld=gold", *words[1:]]


def _options(words: list[str]) -> list[str]:
    """Options alone: no files, no words that belong to an option."""
    found = []
    skip = True  # the compiler
    for word in words:
        if not skip and word.startswith("-") and word not in _WITH_A_WORD:
            found.append(word)
        skip = word in _WITH_A_WORD
    return found


def _includes(words: list[str], header: str) -> bool:
    line = f"#include <{header}>".encode()
    return any(line in Path(w).read_bytes() for w in words[1:] if w.endswith(".c"))
