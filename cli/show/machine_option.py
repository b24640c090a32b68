"""`--machine`, else HBC_MACHINE: by whose costs automatic schedules are made."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import click

VARIABLE = "HBC_MACHINE"
HERE, NONE = "here", "none"
Function = TypeVar("Function", bound=Callable[..., Any])
_asked: list[str | None] = [None]


def asked_machine() -> str | None:
    """A file, `here` or `none`; None where nothing is asked for."""
    return _asked[0] or os.environ.get(VARIABLE) or None


def ask_for_machine(name: str | None) -> None:
    """For the command that begins now: None for what the variable says."""
    _asked[0] = name


def _chosen(ctx: click.Context, _: click.Parameter, name: str | None) -> None:
    if not ctx.resilient_parsing:
        ask_for_machine(name)
        ctx.call_on_close(lambda: ask_for_machine(None))


def machine_option(usual: str) -> Callable[[Function], Function]:
    """The option, where `usual` costs are taken without it."""
    import click  # here: a call from Python asks which machine, and takes no options

    return click.option(
        "--machine", metavar="FILE", expose_value=False, callback=_chosen,
        help="Choose by the costs in a file of `hbc machine`; `here`: by those that it measured on this"
        f" processor, `none`: as described [default: HBC_MACHINE, else {usual}].",
    )  # fmt: skip
