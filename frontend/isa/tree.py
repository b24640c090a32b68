"""Builds the syntax tree of instruction descriptions: one method for each rule of `isa.lark`."""

from __future__ import annotations

from typing import Any

from hbc.frontend.isa import ast as isa_ast
from hbc.frontend.text import ast
from hbc.frontend.text.tree import Children, TreeBuilder, is_token, trees
from hbc.ir.ground.source import Span


class DescriptionBuilder(TreeBuilder):
    """The rules of descriptions beside those of kernels."""

    def descriptions(self, c: Children) -> isa_ast.Descriptions:
        return isa_ast.Descriptions(trees(c), self.source)

    def feature(self, c: Children) -> isa_ast.Feature:
        return isa_ast.Feature(self.ident(c[1]), c[2][0], self.over(c))

    def place(self, c: Children) -> isa_ast.Place:
        return isa_ast.Place(self.ident(c[1]), c[2][0], self.over(c))

    def target(self, c: Children) -> isa_ast.Target:
        name, *uses = self.idents(c)
        return isa_ast.Target(name, self.string(c[2]), tuple(uses), self.over(c))

    def instruction(self, c: Children) -> isa_ast.Instruction:
        name, place = self.idents(c)
        operands = tuple(x for x in c if isinstance(x, isa_ast.Operand))
        clauses = tuple(x for x in c if isinstance(x, isa_ast.Clause))
        (body,) = (x[0] for x in c if isinstance(x, tuple))
        return isa_ast.Instruction(name, operands, place, body, clauses, self.over(c))

    def operand(self, c: Children) -> isa_ast.Operand:
        return isa_ast.Operand(self.ident(c[0]), self.ident(c[2]), c[3][0], self.over(c))

    def body(self, c: Children) -> tuple[tuple[isa_ast.Meaning, ...], Span]:
        return trees(c), self.over(c)

    def bounded(self, c: Children) -> isa_ast.Bounded:
        most, *step = (self.number([x]) for x in c if is_token(x) and x.type == "NUMBER")
        return isa_ast.Bounded(self.idents(c), most, step[0] if step else None, self.over(c))

    def rounding(self, c: Children) -> isa_ast.Rounding:
        return isa_ast.Rounding(c[1][0], self.over(c))

    def fragment(self, c: Children) -> isa_ast.Fragment:
        return isa_ast.Fragment(self.ident(c[1]), c[2][0], self.over(c))

    def emit(self, c: Children) -> isa_ast.Emit:
        compiler = self.idents(c)
        is_asm = any(x.type == "ASM" for x in c)
        return isa_ast.Emit(
            compiler[0] if compiler else None, is_asm, self.string(c[-1]), self.over(c)
        )

    def cost(self, c: Children) -> isa_ast.Cost:
        return isa_ast.Cost(c[1][0], self.over(c))

    def needs(self, c: Children) -> isa_ast.Needs:
        return isa_ast.Needs(self.idents(c), self.over(c))

    def properties(self, c: Children) -> tuple[tuple[isa_ast.Property, ...], Span]:
        return trees(c), self.over(c)

    def property(self, c: Children) -> isa_ast.Property:
        name, *value = c
        return isa_ast.Property(self.ident(name), self.value(value), self.over(c))

    def value(
        self, c: list[Any]
    ) -> ast.Ident | ast.Number | ast.Text | tuple[isa_ast.Property, ...]:
        """What follows the name of a property."""
        *minus, x = c
        if not is_token(x):
            block: tuple[isa_ast.Property, ...] = x[0]
            return block
        if x.type == "NUMBER":
            number = self.number([x])
            return ast.Number(-number.value, self.over(c)) if minus else number
        return self.string(x) if x.type == "STRING" else self.ident(x)

    def string(self, token: Any) -> ast.Text:
        return ast.Text(str(token)[1:-1], self.over([token]))
