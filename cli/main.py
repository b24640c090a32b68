"""The `hbc` command: finds the subcommand, turns every failure into a message and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

import click

from hbc.ir.diag import HbcError

# Listed here so that `hbc --help` imports none of them: each loads numpy, lark or worse.
COMMANDS = {
    "compile": "Write C, a library, the IR or the loop nest.",
    "run": "Run a kernel on files or on its example, check and time it.",
    "verify": "Compare every stage and the native code with the oracle.",
    "bench": "Measure a kernel against this machine's roof.",
    "check": "Report every mistake in the files, compile nothing.",
    "fmt": "Format files.",
    "targets": "List the targets and which of them this machine can run.",
}

INTERRUPTED = 130  # 128 + SIGINT, as shells report it
PIPE_CLOSED = 141  # 128 + SIGPIPE


class LazyCommands(click.Group):
    """A group that imports a subcommand (`command` in the module of its name) when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"hbc.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from hbc.ir.diag import Diagnostic, UsageError, did_you_mean

            hint = did_you_mean(args[0], COMMANDS) or f"the commands are {', '.join(COMMANDS)}"
            raise UsageError(Diagnostic(f"there is no command `{args[0]}`", hint=hint))
        return super().resolve_command(ctx, args)


def _print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from hbc.cli.crash import version

        click.echo(f"hbc {version()}")
        ctx.exit()


@click.group(
    cls=LazyCommands,
    name="hbc",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 the kernel or its data is wrong, 2 the command line is wrong, "
    "3 a result differs from the oracle, 4 a tool is missing, 5 nothing maps, 70 a bug in hbc.",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version,
    help="Show the version and exit.",
)  # fmt: skip
def commands() -> None:
    """Compile small numeric kernels to readable, fast C.

    `hbc COMMAND --help` explains each command.
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the command line (sys.argv by default) and exits with the code it deserves."""
    sys.exit(exit_code_of(sys.argv[1:] if arguments is None else list(arguments)))


def exit_code_of(arguments: list[str]) -> int:
    """Runs one command line; whatever happens has been said on stderr when this returns."""
    try:
        code = _invoke(arguments)
        sys.stdout.flush()
        return code
    except HbcError as failure:
        from hbc.cli.report import show_diagnostics

        show_diagnostics(failure.diagnostics)
        return failure.exit_code
    except click.ClickException as failure:
        failure.show()
        return 2
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has enough. Python flushes stdout at exit: let that go nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except Exception as failure:  # noqa: BLE001  the last resort: no traceback reaches a user
        from hbc.cli.crash import report_bug

        return report_bug(failure, arguments)


def _invoke(arguments: list[str]) -> int:
    completing = os.environ.get("_HBC_COMPLETE")
    if completing:
        from click.shell_completion import shell_complete

        return shell_complete(commands, {}, "hbc", "_HBC_COMPLETE", completing)
    try:
        with commands.make_context("hbc", arguments) as ctx:
            commands.invoke(ctx)
    except click.exceptions.Exit as done:
        return done.exit_code
    return 0


if __name__ == "__main__":
    main()
