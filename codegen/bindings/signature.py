"""A kernel's function as other languages see it: names, element types, and how many elements an array has."""

from __future__ import annotations

from collections.abc import Callable

from hbc.codegen.c.abi import make_abi, ordered
from hbc.codegen.text.names import Scope
from hbc.ir.ground.diag import InternalError
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Argument, Kernel

# Functions of two numbers that both languages get under these names; `/` and `%` floor.
CALLS = {ir.Op.DIV: "floor_div", ir.Op.MOD: "floor_mod"}
INFIX = (ir.Op.ADD, ir.Op.SUB, ir.Op.MUL)


@record
class Array:
    """An array or a scalar as a parameter: its name, and the extents as expressions over the sizes'."""

    argument: Argument
    name: str
    extents: tuple[str, ...]


@record
class Signature:
    """Sizes by their names, then scalars and arrays, in the order of the C function."""

    name: str
    sizes: tuple[str, ...]
    parameters: tuple[Array, ...]

    @property
    def arrays(self) -> tuple[Array, ...]:
        """Those of the parameters that are no scalars."""
        return tuple(p for p in self.parameters if not p.argument.is_scalar)


def signature(kernel: Kernel, spell: Callable[[str], str], scope: str) -> Signature:
    """That of the dense entry point; `spell` makes a C name one of the language, whose functions in CALLS
    stand in `scope`."""
    abi = make_abi(kernel, Scope())
    names = {s.name: spell(abi.names[s.name]) for s in kernel.sizes}
    parameters = tuple(
        Array(a, spell(abi.names[a.name]), tuple(extent_text(e, names, scope) for e in a.extents))
        for a in ordered(kernel)
    )
    return Signature(kernel.name, tuple(names.values()), parameters)


def extent_text(e: ir.Expr, names: dict[str, str], scope: str) -> str:
    """An extent over 64-bit integers, operators in parentheses: the same text in C++ and Rust."""
    match e:
        case ir.Const():
            return str(e.value)
        case ir.Var():
            return names[e.name]
        case ir.Binary(op, a, b) if op in CALLS:
            x, y = (bare(extent_text(part, names, scope)) for part in (a, b))
            return f"{scope}::{CALLS[op]}({x}, {y})"
        case ir.Binary(op, a, b) if op in INFIX:
            return f"({extent_text(a, names, scope)} {op} {extent_text(b, names, scope)})"
    raise InternalError(f"an extent is a {type(e).__name__}")


def bare(text: str) -> str:
    """Without the parentheses around all of it: rustc warns of them in an argument."""
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0 and i + 1 < len(text):
            return text
    return text[1:-1] if text.startswith("(") else text


def clear_of(name: str, taken: frozenset[str]) -> str:
    """The name of the kernel's function, where the file has functions or classes of its own."""
    return f"{name}_" if name in taken else name
