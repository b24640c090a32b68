"""The rules of `isa.lark` that do more than make the class of their name."""

from __future__ import annotations

from typing import Any

from hbc.frontend.isa import ast as isa_ast
from hbc.frontend.text import ast
from hbc.frontend.text.build import Children, is_token
from hbc.frontend.text.tree import KernelBuilder


class DescriptionBuilder(KernelBuilder):
    """The rules of descriptions beside those of kernels."""

    MODULES = (isa_ast, ast)
    LISTS = KernelBuilder.LISTS | {"body", "properties"}

    def bounded(self, c: Children) -> isa_ast.Bounded:
        most, *step = (self.number([x]) for x in c if is_token(x) and x.type == "NUMBER")
        return isa_ast.Bounded(self.idents(c), most, step[0] if step else None, self.over(c))

    def in_shared(self, c: Children) -> isa_ast.InShared:
        return isa_ast.InShared(self.idents(c), self.over(c))

    def emit(self, c: Children) -> isa_ast.Emit:
        compiler = self.idents(c)
        is_asm = any(x.type == "ASM" for x in c)
        return isa_ast.Emit(
            compiler[0] if compiler else None, is_asm, self.template(c[-1]), self.over(c)
        )

    def template(self, token: Any) -> ast.Text:
        """Quotes are written `\\"`; every other backslash is C's own."""
        return ast.Text(str(token)[1:-1].replace(r"\"", '"'), self.over([token]))

    def property(self, c: Children) -> isa_ast.Property:
        name, *value = c
        return isa_ast.Property(self.ident(name), self.value(value), self.over(c))

    def value(
        self, c: list[Any]
    ) -> ast.Ident | ast.Number | ast.Text | tuple[isa_ast.Property, ...]:
        """What follows the name of a property."""
        *minus, x = c
        if not is_token(x):
            return tuple(x)
        if x.type == "NUMBER":
            number = self.number([x])
            return ast.Number(-number.value, self.over(c)) if minus else number
        return self.string(x) if x.type == "STRING" else self.ident(x)
