"""Large headers, compiled once for each set of options: <immintrin.h> is most of what gcc does for a kernel.

gcc takes a precompiled header only where its own version and the options are those that it was made
with, and reads the text beside it otherwise; so a command means the same with and without. Clang
is left alone: what it compiles shows that the texts include all that they need.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

HEADERS = {name: f"#include <{name}>" for name in ("immintrin.h", "arm_neon.h")}
GNU = re.compile(r"(?:[\w-]+-)?(gcc|g\+\+)(?:-\d+)?")
MOST = 48
"""Sets of options; each takes some 25 MB."""
_NO_OPTION_OF_HEADERS = ("-I", "-l", "-L", "-shared", "-Wl,", "-c", "-S")
_WITH_A_WORD = ("-o", "-include", "-I", "-x", "-T", "-L")


@dataclass
class Precompiled:
    """Commands as they run with what is in `folder`. A header is compiled when it is wanted again."""

    folder: Path
    asked: set[str] = field(default_factory=set)

    def __call__(self, arguments: Sequence[str]) -> list[str]:
        words = list(arguments)
        if GNU.fullmatch(Path(words[0]).name) is None:
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
        of_cpp = "c++" if "++" in Path(words[0]).name else "c"
        name = hashlib.sha256("\0".join((words[0], *options, text)).encode()).hexdigest()[:24]
        header = self.folder / name / "first.h"
        if header.is_file():
            with suppress(OSError):
                os.utime(header.parent)
            return header
        if name not in self.asked:
            self.asked.add(name)
            return None
        if len(self.asked) > MOST:
            return None
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder, prefix=".new-") as made:
            first = Path(made) / "one" / "first.h"
            first.parent.mkdir()
            first.write_text(text + "\n", encoding="ascii")
            command = [
                words[0],
                *options,
                "-x",
                f"{of_cpp}-header",
                str(first),
                "-o",
                f"{first}.gch",
            ]
            answer = subprocess.run(command, capture_output=True, check=False)
            if answer.returncode != 0:
                return None
            with suppress(OSError):  # another process was first
                first.parent.rename(header.parent)
        return header if header.is_file() else None


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
