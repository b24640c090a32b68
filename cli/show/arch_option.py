"""`--arch`: the GPUs that code is for, and so the instructions that automatic schedules may take."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import click

Function = TypeVar("Function", bound=Callable[..., Any])
_asked: list[str | None] = [None]


def asked_archs() -> str | None:
    """As they are listed; None where nothing is asked for."""
    return _asked[0]


def ask_for_archs(listed: str | None) -> None:
    """For the command that begins now."""
    _asked[0] = listed


def _chosen(ctx: click.Context, _: click.Parameter, listed: str | None) -> str | None:
    if not ctx.resilient_parsing:
        ask_for_archs(listed)
        ctx.call_on_close(lambda: ask_for_archs(None))
    return listed


def arch_option(passed: bool) -> Callable[[Function], Function]:
    """The option; `passed`: the command has it as `archs` too."""
    import click  # here: a call from Python asks for which GPUs, and takes no options

    return click.option(
        "--arch", "archs", metavar="ARCHS", callback=_chosen, expose_value=passed,
        help="GPU architectures, such as sm_80,sm_90 [default: that of the GPU here, else these two].",
    )  # fmt: skip
