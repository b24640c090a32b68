"""The instruction descriptions of hbc and of the user's files, kept in the cache once checked."""

from __future__ import annotations

import pickle
from functools import cache
from hashlib import sha256
from pathlib import Path

from hbc.codegen.instruction_files import builtin_descriptions
from hbc.frontend.grammar import DIGEST_BYTES, cache_folder, keep
from hbc.ir.instruction import Instruction, InstructionSet
from hbc.ir.target import Target

_PACKAGE = Path(__file__).parents[1]
# What decides how a text is read: a change of any of it makes what is kept out of date.
_READERS = (
    "frontend/isa*", "ir/instruction.py", "ir/nodes.py", "ir/record.py", "ir/source.py", "ir/types.py",
)  # fmt: skip


def instructions_of(target: Target) -> list[Instruction]:
    """The tensor instructions that code for the target may use: those of its sets, and what its `isa`
    files describe for its features or for features of targets that they declare."""
    known = instruction_set(target.isa)
    sets = set(target.instruction_sets)
    names = {i.name for t in sets for i in known.of_target(t)}
    if target.isa:
        builtin = instruction_set()
        ours = {i.name for i in builtin.instructions}
        declared = {t.name for t in known.targets} - {t.name for t in builtin.targets}
        theirs = (i for t in (target.name, *declared) for i in known.of_target(t))
        names |= {i.name for i in theirs if i.name not in ours}
    return [i for i in known.instructions if i.name in names and i.place.machine == target.machine]


@cache
def instruction_set(files: tuple[Path, ...] = ()) -> InstructionSet:
    """The descriptions that hbc comes with and those of the files. Reading and checking them takes
    half a second, so the result is kept; an unreadable or unwritable cache only costs time."""
    paths = [*builtin_descriptions(), *files]
    kept = cache_folder() / f"instructions-{_key(paths)}.pickle"
    try:
        stored = kept.read_bytes()
    except OSError:
        stored = b""
    digest, text = stored[:DIGEST_BYTES], stored[DIGEST_BYTES:]
    if sha256(text).digest() == digest:
        found = pickle.loads(text)
        if isinstance(found, InstructionSet):
            return found
    from hbc.frontend.isa_load import load_instructions  # the parser, which all else can do without

    made = load_instructions(paths)
    keep(kept, pickle.dumps(made))
    return made


def _key(paths: list[Path]) -> str:
    key = sha256()
    readers = [p for pattern in _READERS for p in sorted(_PACKAGE.glob(pattern)) if p.is_file()]
    for path in (*readers, *paths):
        try:
            key.update(str(path).encode() + b"\0" + path.read_bytes() + b"\0")
        except OSError:
            key.update(b"unreadable\0")  # the loader says so
    return key.hexdigest()[:24]
