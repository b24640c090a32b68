"""Reads what `--set` says: values for params, types and sizes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field

from hbc.frontend.text import ast
from hbc.ir.ground.diag import Diagnostic, UsageError, did_you_mean
from hbc.ir.ground.record import mutable
from hbc.ir.lang import fold
from hbc.ir.lang.types import DTYPES, DType, Kind

TRUTH = {"true": True, "false": False, "1": True, "0": False}


@mutable
class Settings:
    """The texts given, and the mistakes in them."""

    given: Mapping[str, str]
    fix_sizes: bool
    mistakes: list[Diagnostic] = field(default_factory=list)

    def size(self, name: str) -> int | None:
        """The value that a size is fixed to, if it is. It is checked in any case."""
        if name not in self.given:
            return None
        number = self.integer(name, DTYPES["i64"])
        if number is not None and number < 0:
            self.wrong(name, "a size is at least 0")
            return None
        return number if self.fix_sizes else None

    def usual(self, name: str) -> int | None:
        """The value that a size is given, fixed to it or not; of a wrong one `size` has said so."""
        text = self.given.get(name, "")
        return int(text) if text.isdecimal() else None

    def type(self, name: str) -> DType | None:
        """The type given for a type param."""
        if name not in self.given:
            return None
        if self.given[name] in DTYPES:
            return DTYPES[self.given[name]]
        close = did_you_mean(self.given[name], DTYPES)
        self.wrong(name, "that is no type", close or f"the types are {' '.join(DTYPES)}")
        return None

    def param(self, name: str, to: DType) -> int | float | bool | None:
        """The number given for a param of type `to`."""
        if name not in self.given:
            return None
        text = self.given[name]
        if to.kind is Kind.BOOL:
            if text not in TRUTH:
                self.wrong(name, "a bool is `true` or `false`")
            return TRUTH.get(text)
        if to.is_int:
            return self.integer(name, to)
        try:
            return fold.round_to(float(text), to)
        except ValueError:
            self.wrong(name, "that is no number")
            return None

    def integer(self, name: str, to: DType) -> int | None:
        try:
            number = int(self.given[name], 0)
        except ValueError:
            self.wrong(name, "that is no whole number")
            return None
        low, high = to.limits
        if not low <= number <= high:
            self.wrong(name, f"{to} holds {low} .. {high}")
            return None
        return number

    def wrong(self, name: str, why: str, hint: str | None = None) -> None:
        message = f"--set {name}={self.given[name]}: {why}"
        self.mistakes.append(Diagnostic(message, None, hint))

    def finish(self, file: ast.File, scalars: Collection[str]) -> None:
        """Raises UsageError for names that the file lacks and for values that do not fit. `scalars`: those
        that serve as sizes."""
        known = [*settable(file), *scalars]
        for name in self.given:
            if name not in known:
                hint = did_you_mean(name, known)
                if hint is None and known:
                    hint = "it has " + ", ".join(f"`{n}`" for n in known[:12])
                message = f"--set {name}: the file has no such size, param or type"
                self.mistakes.append(Diagnostic(message, None, hint))
        if self.mistakes:
            raise UsageError(self.mistakes)


def settable(file: ast.File) -> dict[str, None]:
    """The names that `--set` takes, in the order of the file."""
    names: dict[str, None] = {}
    for s in file.statements:
        match s:
            case ast.Sizes(names=idents):
                names.update((i.text, None) for i in idents)
            case ast.Param(name=ident) | ast.TypeParam(name=ident):
                names[ident.text] = None
            case _:
                pass
    return names
