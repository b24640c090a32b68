"""`record`, `interned` and `mutable`: classes of named fields, cheap to define and to construct.

As `dataclass(slots=True)`, of which some three hundred are defined at each start, in a tenth of the
time: methods are made when they are first called, as most are of few classes, and once for all
classes of as many fields. Nothing assigns the
fields of a record, which is for mypy to say, and not tested when the program runs; so it takes a
quarter of the time of a frozen dataclass to construct one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from types import CodeType, FunctionType
from typing import Any, TypeVar, dataclass_transform

_X = TypeVar("_X")
Method = Callable[..., Any]


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[_X]) -> type[_X]:
    """The class with slots for its fields, compared and hashed by them, and shown with them. What it
    defines itself stays. A field x with `init=False` is what the method `x_of` says of the others."""
    return _with(cls, {"__init__": _constructor, "__eq__": _equality, "__hash__": _hash})


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def interned(cls: type[_X]) -> type[_X]:
    """The same with one object for all of equal fields, so that comparing and hashing them is as quick
    as can be: for small values that are keys everywhere. It stays for good."""
    made = _with(cls, {"__reduce__": _reduction})
    if made.__repr__ is _shown:
        type.__setattr__(made, "__repr__", cache(_shown))
    type.__setattr__(made, "__new__", _one_for_all(made))
    return made


@dataclass_transform(field_specifiers=(field,))
def mutable(cls: type[_X]) -> type[_X]:
    """The same with fields that may be assigned, and without a hash."""
    made = _with(cls, {"__init__": _constructor, "__eq__": _equality})
    type.__setattr__(made, "__hash__", None)
    return made


def _with(cls: type[_X], makers: Mapping[str, Callable[[type[Any]], Method]]) -> type[_X]:
    """The class with slots, and with these methods unless it defines them itself."""
    own = vars(cls)
    if cls.__doc__ is None:
        cls.__doc__ = cls.__qualname__  # or dataclass makes one of the signature, which takes long
    made = dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    for name, maker in makers.items():
        if name not in own and not (name == "__hash__" and "__eq__" in own):
            setattr(made, name, _when_called(made, name, maker))
    if "__repr__" not in own:
        type.__setattr__(made, "__repr__", _shown)
    return made


def _when_called(cls: type[Any], name: str, maker: Callable[[type[Any]], Method]) -> Method:
    """A method that puts the one that is made of the fields in its place."""

    def first(*args: Any, **named: Any) -> Any:
        method = maker(cls)
        method.__qualname__ = f"{cls.__qualname__}.{name}"
        setattr(cls, name, method)
        return method(*args, **named)

    return first


def _constructor(cls: type[Any]) -> Method:
    given: dict[str, Any] = {"MISSING": MISSING}
    parameters, lines, names, defaults = ["self"], list[str](), list[str](), list[Any]()
    for f in fields(cls):
        if not f.init and f.default_factory is MISSING:
            if hasattr(cls, f"{f.name}_of"):  # else __post_init__ sets it
                lines.append(f"self.f{len(names)} = self.{f.name}_of()")
                names.append(f.name)
            continue
        value = parameter = f"f{len(names)}"
        names.append(f.name)
        if f.default_factory is not MISSING:
            given[f"_{f.name}"] = f.default_factory
            defaults.append(MISSING)
            value = f"_{parameter}() if {parameter} is MISSING else {parameter}"
        elif f.default is not MISSING:
            defaults.append(f.default)
        parameters.append(parameter)
        lines.append(f"self.{parameter} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    return method(parameters, lines or ["pass"], names, given, defaults)


def _one_for_all(cls: type[Any]) -> Method:
    given: dict[str, Any] = {"known": {}, "new": object.__new__}
    defaults = [f.default for f in fields(cls) if f.default is not MISSING]
    names = [f.name for f in fields(cls)]
    parameters = [f"f{n}" for n in range(len(names))]
    key = f"({', '.join(parameters)},)"
    lines = [
        f"found = known.get({key})",
        "if found is None:",
        f" found = known[{key}] = new(cls)",
        *(f" found.{name} = {name}" for name in parameters),
        "return found",
    ]
    return method(["cls", *parameters], lines, names, given, defaults)


def _reduction(cls: type[Any]) -> Method:
    names = [f.name for f in fields(cls)]
    return method(["self"], [f"return self.__class__, {_values('self', names)}"], names)


def _equality(cls: type[Any]) -> Method:
    names = _compared(cls)
    lines = [
        "if other.__class__ is not self.__class__:",
        " return NotImplemented",
        f"return {_values('self', names)} == {_values('other', names)}",
    ]
    return method(["self", "other"], lines, names)


def _hash(cls: type[Any]) -> Method:
    names = _compared(cls)
    return method(["self"], [f"return hash({_values('self', names)})"], names)


def _compared(cls: type[Any]) -> list[str]:
    return [f.name for f in fields(cls) if f.compare]


def _values(of: str, names: Sequence[str]) -> str:
    """The tuple of the fields, of which each is equal to itself, even if it is NaN."""
    return f"({''.join(f'{of}.f{n},' for n in range(len(names)))})"


def method(
    parameters: Sequence[str],
    lines: Sequence[str],
    names: Sequence[str],
    given: dict[str, Any] | None = None,
    defaults: Sequence[Any] = (),
) -> Method:
    """The function of this text, in which `f0` stands for the first of the names. `given`: its globals.
    Classes of as many fields share what Python makes of it, which takes long."""
    code = _compiled("\n ".join([f"def method({', '.join(parameters)}):", *lines]))
    named = {f"{before}f{n}": before + name for n, name in enumerate(names) for before in ("", "_")}
    own = code.replace(
        co_names=tuple(named.get(name, name) for name in code.co_names),
        co_varnames=tuple(named.get(name, name) for name in code.co_varnames),
    )
    return FunctionType(own, {} if given is None else given, "method", tuple(defaults))


@cache
def _compiled(text: str) -> CodeType:
    made: dict[str, Any] = {}
    exec(text, made)
    code: CodeType = made["method"].__code__
    return code


def _shown(self: Any) -> str:
    shown = (f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"
