"""The rooms of hbc and what they import, read from the files; `python room_map.py` draws it for the docs."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = tomllib.loads(Path(__file__).with_name("rooms.toml").read_text(encoding="utf-8"))
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "```mermaid\n", "```\n"

MAY_IMPORT = {
    "cli": {"cli", "frontend", "eqsat", "synth", "codegen", "ir"},
    "frontend": {"frontend", "ir"},
    "eqsat": {"eqsat", "ir"},
    "synth": {"synth", "ir"},
    "codegen": {"codegen", "ir"},
    "ir": {"ir"},
}
"""Packages. cli is absent from every row but its own: nothing imports it."""


@dataclass(frozen=True, order=True)
class Room:
    """A folder of files; `name` is "" for the package's own."""

    package: str
    name: str

    def __str__(self) -> str:
        return f"{self.package}/{self.name}".rstrip("/")


ORDER = {
    package: [name for name, _ in said["rooms"]] if ["", ""] in said["rooms"]
    else ["", *(name for name, _ in said["rooms"])]
    for package, said in TABLE.items()
}  # fmt: skip
"""Rooms from the ground up."""
ABOUT = {Room(p, name): about for p, said in TABLE.items() for name, about in said["rooms"]}


def may_import(a: Room, b: Room) -> bool:
    """Whether files of `a` may import files of `b`."""
    if a.package != b.package:
        return b.package in MAY_IMPORT[a.package]
    order = ORDER[a.package]
    return a == b or (
        b.name in order and a.name in order and order.index(b.name) < order.index(a.name)
    )


@cache
def modules() -> dict[str, Path]:
    """Every file of the product by its dotted name."""
    return {
        ".".join(["hbc", *file.relative_to(ROOT).with_suffix("").parts]).removesuffix(
            ".__init__"
        ): file
        for package in MAY_IMPORT
        for file in sorted((ROOT / package).rglob("*.py"))
    }


@cache
def room_of(file: Path) -> Room:
    package, *inside = file.relative_to(ROOT).parts[:-1]
    return Room(package, "/".join(inside))


def imports(file: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and full dotted name of each import, at any depth; `file` is relative to the root."""
    parts = ["hbc", *Path(file).with_suffix("").parts][:-1]
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                above = parts[: len(parts) - level + 1] if level else []
                base = ".".join([*above, *([module] if module else [])])
                yield from ((node.lineno, f"{base}.{alias.name}") for alias in names)
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__")
                | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str() as target), *_],
            ):
                yield node.lineno, target


@dataclass(frozen=True)
class Read:
    """What is asked of a file: its imports, and what it says first of itself."""

    imports: tuple[tuple[int, str], ...]
    docstring: str


@cache
def read(file: Path) -> Read:
    """A file as it is: parsed once for all who ask."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    name = file.relative_to(ROOT).as_posix()
    return Read(tuple(imports(name, tree)), ast.get_docstring(tree) or "")


def imports_of(file: Path) -> tuple[tuple[int, str], ...]:
    """Those of a file as it is."""
    return read(file).imports


@cache
def graph() -> dict[str, set[str]]:
    """The modules that each module imports, those within functions too."""
    known = modules()
    found: dict[str, set[str]] = {}
    for name, file in known.items():
        targets = (t for _, t in imports_of(file))
        found[name] = {t if t in known else t.rpartition(".")[0] for t in targets} & known.keys()
    return found


def rooms_used(edges: Mapping[str, set[str]]) -> dict[Room, set[Room]]:
    """The rooms that each room imports, itself apart."""
    known = modules()
    used: dict[Room, set[Room]] = {room_of(file): set() for file in known.values()}
    for name, targets in edges.items():
        room = room_of(known[name])
        used[room] |= {room_of(known[t]) for t in targets} - {room}
    return used


def shown() -> str:
    """The whole map as text: each room, what it is for, how many files it has, what it imports."""
    known, used = modules(), rooms_used(graph())
    lines = []
    for package, order in ORDER.items():
        for name in order:
            room = Room(package, name)
            count = sum(room_of(f) == room and f.name != "__init__.py" for f in known.values())
            others = ", ".join(map(str, sorted(used.get(room, ()))))
            lines.append(
                f"{room} ({count} files) {ABOUT.get(room, '')}\n    imports {others or 'nothing'}"
            )
    return "\n".join(lines)


def drawing() -> str:
    """Mermaid: a box for each package with its rooms, and an arrow to each room that is used directly and
    not also by way of another room of the package. Between packages the arrows are those of packages."""
    used = rooms_used(graph())
    lines = ["graph BT"]
    for package in ("cli", "frontend", "eqsat", "synth", "codegen", "ir"):
        lines.append(f"  subgraph {package}")
        rooms = [Room(package, name) for name in ORDER[package]]
        rooms = [r for r in rooms if r.name or package == "cli"]
        inside = {r: {u for u in used[r] if u in rooms} for r in rooms}
        above: dict[Room, set[Room]] = {}
        for r in rooms:  # from the ground up: all that is below, by any way
            above[r] = inside[r].union(*(above[u] for u in inside[r]))
        for r in rooms:
            label = r.name or "main, pipeline"
            lines.append(f'    {_node(r)}["{label}"]')
        for r in rooms:
            direct = [u for u in inside[r] if not any(u in above[v] for v in inside[r] - {u})]
            lines += [f"    {_node(r)} --> {_node(u)}" for u in sorted(direct)]
        lines.append("  end")
    packages = {
        (a.package, b.package) for a, bs in used.items() for b in bs if a.package != b.package
    }
    lines += [f"  {a} --> {b}" for a, b in sorted(packages) if a != "cli" or b != "ir"]
    return "\n".join(lines) + "\n"


def _node(room: Room) -> str:
    return f"{room.package}_{room.name or 'root'}"


def drawn(page: str) -> str:
    """The drawing in a page."""
    return page.partition(BEGIN)[2].partition(END)[0]


def main() -> None:
    page = PAGE.read_text(encoding="utf-8")
    head, _, rest = page.partition(BEGIN)
    PAGE.write_text(head + BEGIN + drawing() + END + rest.partition(END)[2], encoding="utf-8")


if __name__ == "__main__":
    main()
