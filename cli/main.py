"""The `hbc` command: finds the subcommand, turns every failure into a message and an exit code."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import NoReturn

import click

from hbc.cli.address_space import watch_address_space
from hbc.cli.show.frames import CALL_DEPTH, with_room
from hbc.cli.show.loudness import Loudness, be
from hbc.cli.show.options import with_loudness
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.printable import printable_line
from hbc.ir.host.trace import trace

# Listed here so that `hbc --help` imports none of them: each loads numpy, lark or worse.
COMMANDS = {
    "compile": "Write C, a library, the IR or the loop nest.",
    "run": "Run a kernel on files or on its example, check and time it.",
    "verify": "Compare every stage and the native code with the oracle.",
    "bench": "Measure a kernel against this machine's roof.",
    "tune": "Find the fastest schedule by measuring, and write it into the file.",
    "diff": "Show what another schedule or file changes: loops, C, results, times.",
    "inspect": "Rank all mappings of whole loops to instructions; say why others are refused.",
    "explain": "Say which tensor instructions were chosen for which statements, and why.",
    "synth": "Complete a sketch of data movement, or prove that nothing completes it.",
    "check-proof": "Verify a proof that synth wrote, by a checker that shares no code with the search.",
    "check": "Report every mistake in the files, compile nothing.",
    "fmt": "Format files.",
    "targets": "List the targets and which of them this machine can run.",
    "machine": "Measure what instructions and memory cost on this processor, for `auto` and `tune`.",
    "passes": "List the passes from loops to code, and which of them run for a target.",
    "instructions": "List the described tensor instructions, by target.",
    "new": "Write a commented kernel or sketch to begin with.",
    "lsp": "Serve an editor: mistakes, types and loops as one types.",
    "doctor": "Say which tools are there, and what the missing ones would bring.",
    "cache": "Show, limit or clear what is kept to be quick the next time.",
}

INTERRUPTED = 130  # 128 + SIGINT, as shells report it
PIPE_CLOSED = 141  # 128 + SIGPIPE
SIGNALLED = 128  # and the number of the signal that ended hbc
# A compilation makes a million small objects that refer to each other and stay: looking through them
# every 700, as Python does, takes an eighth of its time, and every 200000 still a tenth.
OBJECTS_BEFORE_COLLECTION = 1_000_000
# What the system may refuse to anybody: no room, no permission, no handles. Not a bug in hbc.
REFUSALS = frozenset(
    {
        errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS, errno.EACCES, errno.EPERM,
        errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.ENAMETOOLONG, errno.ELOOP,
        errno.ENOTDIR, errno.EILSEQ,
    }
)  # fmt: skip


class LazyCommands(click.Group):
    """A group that imports a subcommand (`command` in the module of its name) when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"hbc.cli.commands.{cmd_name.replace('-', '_')}").command
        assert isinstance(command, click.Command)
        return with_loudness(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from hbc.ir.ground.diag import Diagnostic, UsageError, did_you_mean

            hint = did_you_mean(args[0], COMMANDS) or f"the commands are {', '.join(COMMANDS)}"
            raise UsageError(Diagnostic(f"there is no command `{args[0]}`", hint=hint))
        return super().resolve_command(ctx, args)


def _print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from hbc.cli.show.crash import version

        click.echo(f"hbc {version()}")
        ctx.exit()


def _print_cmake_folder(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        click.echo(Path(__file__).parent / "cmake")
        ctx.exit()


@click.group(
    cls=LazyCommands,
    name="hbc",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 the kernel or its data is wrong, 2 the command line is wrong, "
    "3 a result differs from the oracle, 4 a tool is missing, 5 nothing maps, 70 a bug in hbc, "
    "130 interrupted.",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version,
    help="Show the version and exit.",
)  # fmt: skip
@click.option(
    "--cmake-dir", is_flag=True, is_eager=True, expose_value=False, callback=_print_cmake_folder,
    help="Show the folder of hbcConfig.cmake, which has hbc_add_kernel(), and exit.",
)  # fmt: skip
def commands() -> None:
    """Compile small numeric kernels to readable, fast C.

    `hbc COMMAND --help` explains each command.
    """


with_loudness(commands)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the command line (sys.argv by default) and exits with the code it deserves."""
    # As an exception, so that temporary files are removed and compilers are ended.
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores one
            signal.signal(number, lambda number, frame: sys.exit(SIGNALLED + number))
    code = exit_code_of(sys.argv[1:] if arguments is None else list(arguments))
    gc.freeze()  # or Python looks through all that a compilation leaves, when it ends
    sys.exit(code)


def exit_code_of(arguments: list[str]) -> int:
    """Runs one command line; whatever happens has been said on stderr when this returns."""
    gc.set_threshold(OBJECTS_BEFORE_COLLECTION)
    sys.setrecursionlimit(max(sys.getrecursionlimit(), CALL_DEPTH))
    be(Loudness.USUAL)
    try:
        watch_address_space()
        code = with_room(lambda: _invoke(arguments))
        _tell_of_caches()
        trace("done")
        if sys.stdout is not None:  # None when it was closed before we began
            sys.stdout.flush()
        return code
    except HbcError as failure:
        from hbc.cli.show.report import show_diagnostics

        show_diagnostics(failure.diagnostics)
        return failure.exit_code
    except click.ClickException as failure:
        failure.show()
        return 2
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        return PIPE_CLOSED
    except MemoryError:
        click.echo("error: there is not enough memory\nhint: try smaller sizes", err=True)
        return 1
    except Exception as failure:  # noqa: BLE001  the last resort: no traceback reaches a user
        if isinstance(failure, OSError) and failure.errno in REFUSALS:
            return _refused(failure)
        from hbc.cli.show.crash import report_bug

        return report_bug(failure, arguments)


def _tell_of_caches() -> None:
    """Which folders were not used, so that everything was made again."""
    module = sys.modules.get("hbc.ir.host.cache_folder")
    for folder, wrong in module.refused_folders().items() if module else ():
        from hbc.cli.show.report import notice

        other = f"or name another one with {module.VARIABLE}" if module else ""
        notice(f"note: nothing is kept in `{printable_line(str(folder))}`: {wrong}, {other}")


def _refused(failure: OSError) -> int:
    """The system does not let us: says what and, where it is a file, which."""
    where = f"`{printable_line(str(failure.filename))}`: " if failure.filename else ""
    click.echo(f"error: {where}{failure.strerror}", err=True)
    _drop_output()
    return 1


def _drop_output() -> None:
    """Python flushes stdout at exit. Where that cannot succeed, let it go nowhere."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
