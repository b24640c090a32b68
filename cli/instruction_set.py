"""The instruction descriptions of hbc and of the user's files, kept in the cache once checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path

from hbc.codegen.text.instruction_files import builtin_descriptions
from hbc.ir.ground import source
from hbc.ir.ground.record_json import classes_of, from_json, to_json
from hbc.ir.host.cache_folder import keep, kept
from hbc.ir.host.file_bytes import file_bytes
from hbc.ir.lang import instruction, nodes, operators, target, types
from hbc.ir.lang.instruction import Instruction, InstructionSet
from hbc.ir.lang.target import Feature, Target

MOST_BYTES = 1 << 26  # of a file
_PACKAGE = Path(__file__).parents[1]
# What decides how a text is read: a change of any of it makes what is kept out of date.
_READERS = (
    "cli/instruction_set.py", "frontend/isa/*.*", "ir/lang/instruction.py", "ir/lang/nodes.py",
    "ir/lang/operators.py", "ir/lang/target.py", "ir/ground/record*.py", "ir/ground/source.py",
    "ir/lang/types.py",
)  # fmt: skip


def instructions_of(target: Target) -> list[Instruction]:
    """The tensor instructions that code for the target may use: those of its sets, and what its `isa`
    files describe for its features or for features of targets that they declare."""
    return list(_usable(target).instructions)


def features() -> tuple[Feature, ...]:
    """The features of processors that hbc comes with."""
    return _part("features", (), lambda: replace(instruction_set(), instructions=())).features


@cache
def _usable(target: Target) -> InstructionSet:
    """The instructions for the target: kept by themselves, as to read all takes long."""
    return _part(target.name, target.isa, lambda: _chosen(target), repr(target))


def _chosen(target: Target) -> InstructionSet:
    """The same, out of all."""
    known = instruction_set(target.isa)
    sets = set(target.instruction_sets)
    names = {i.name for t in sets for i in known.of_target(t)}
    if target.isa:
        builtin = instruction_set()
        ours = {i.name for i in builtin.instructions}
        declared = {t.name for t in known.targets} - {t.name for t in builtin.targets}
        theirs = (i for t in (target.name, *declared) for i in known.of_target(t))
        names |= {i.name for i in theirs if i.name not in ours}
    fitting = (i for i in known.instructions if i.place.machine == target.machine)
    return InstructionSet(tuple(i for i in fitting if i.name in names), ())


@cache
def instruction_set(files: tuple[Path, ...] = ()) -> InstructionSet:
    """The descriptions that hbc comes with and those of the files. Reading and checking them takes
    half a second, so the result is kept."""
    return _part("all", files, lambda: _load([*builtin_descriptions(), *files]))


def _load(paths: list[Path]) -> InstructionSet:
    from hbc.frontend.isa.load import load_instructions  # the parser, which all else can do without

    return load_instructions(paths)


def _part(
    name: str, files: tuple[Path, ...], make: Callable[[], InstructionSet], decides: str = ""
) -> InstructionSet:
    """A part of what the files say: what the cache has of it, or what is made now and put there. An
    unreadable or unwritable cache only costs time. `decides`: what else the part depends on."""
    name = f"instructions-{name}-{_key([*builtin_descriptions(), *files], decides)}.json"
    stored = kept(name)
    if stored is not None:
        try:
            read = from_json(
                stored.decode(), classes_of((instruction, nodes, operators, source, target, types))
            )
        except ValueError:
            read = None
        if isinstance(read, InstructionSet):
            return read
    made = make()
    keep(name, to_json(made).encode())
    return made


def _key(paths: list[Path], decides: str) -> str:
    key = sha256(decides.encode())
    readers = [p for pattern in _READERS for p in sorted(_PACKAGE.glob(pattern)) if p.is_file()]
    for path in (*readers, *paths):
        try:
            key.update(str(path).encode() + b"\0" + file_bytes(path, MOST_BYTES) + b"\0")
        except OSError:
            key.update(b"unreadable\0")  # the loader says so
    return key.hexdigest()[:24]
