"""The options that several commands share, and how their `NAME=VALUE` texts are read."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from hbc.cli.show import completion
from hbc.cli.show.loudness import Loudness, be
from hbc.cli.show.machine_option import machine_option
from hbc.ir.ground.diag import Diagnostic, UsageError

Function = TypeVar("Function", bound=Callable[..., Any])
NAMED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
LONGEST = 1e6  # seconds: eleven days
BEHIND = "hbc.behind"  # what of a context keeps the NAME=VALUE behind the file


class Seconds(click.FloatRange):
    """A range of floats; NaN lies in none."""

    name = "seconds"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is not a number of seconds.", param, ctx)
        return number


def _settings(ctx: click.Context, _: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    """Those of --set, and those that stand behind the kernel."""
    values: dict[str, str] = {}
    behind: Sequence[str] = ctx.meta.get(BEHIND, ())
    for text, said in [*((t, f"--set {t}") for t in texts), *((t, t) for t in behind)]:
        match = NAMED.fullmatch(text)
        if match is None:
            example = "--set N=1024" if said != text else "N=1024"
            raise UsageError(
                Diagnostic(f"`{said}` is not NAME=VALUE", hint=f"for example {example}")
            )
        name, value = match[1], match[2]
        if values.setdefault(name, value) != value:
            called = f"--set {name}" if text in texts else name
            raise UsageError(
                Diagnostic(f"`{called}` is given twice, as {values[name]} and as {value}")
            )
    return values


def _behind(ctx: click.Context, _: click.Parameter, texts: tuple[str, ...]) -> None:
    ctx.meta[BEHIND] = texts


def _files(ctx: click.Context, param: click.Parameter, files: tuple[Path, ...]) -> tuple[Path, ...]:
    """The files; what is NAME=VALUE and no file is kept for `_settings`."""
    settings = [f for f in files if NAMED.fullmatch(str(f)) and not f.exists()]
    ctx.meta[BEHIND] = tuple(map(str, settings))
    found = tuple(f for f in files if f not in settings)
    if not found:
        raise click.MissingParameter(
            ctx=ctx, param=param, param_hint=f"'{str(param.name).upper()}...'"
        )
    return found


settings_option = click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", callback=_settings,
    shell_complete=completion.settings,
    help="Override a size, a param or a type; may be repeated.",
)  # fmt: skip


def kernel_argument(function: Function) -> Function:
    """KERNEL and what of it is set, which is asked for before --set is."""
    behind = click.argument(
        "behind", nargs=-1, metavar="[NAME=VALUE]...", is_eager=True, expose_value=False, callback=_behind,
        shell_complete=completion.settings,
    )  # fmt: skip
    return click.argument("kernel", type=click.Path(path_type=Path))(behind(function))


def files_argument(name: str) -> Callable[[Function], Function]:
    """Several files, and what of them is set."""
    return click.argument(
        name, nargs=-1, required=True, type=click.Path(path_type=Path), is_eager=True, callback=_files,
        metavar=f"{name.upper()}... [NAME=VALUE]...", shell_complete=completion.files_or_settings,
    )  # fmt: skip


def kernel_options(function: Function) -> Function:
    """KERNEL, --kernel, --target, --isa, --schedule, --machine, --fallback and --set: which code is made."""
    return program_options(fallback_option(function))


def program_options(function: Function) -> Function:
    """KERNEL, --kernel, --target, --isa, --schedule, --machine and --set: which program is meant."""
    return kernel_argument(choice_options(function))


fallback_option = click.option(
    "--fallback", type=click.Choice(("error", "scalar")), default="error", show_default=True,
    help="What the code does on a processor without its instructions: return an error code, or plain"
    " loops.",
)  # fmt: skip
kernel_option = click.option(
    "--kernel", "only", metavar="NAME", shell_complete=completion.kernels,
    help="Which kernel is meant, of a file with several.",
)  # fmt: skip


def choice_options(function: Function) -> Function:
    """--kernel, --target, --isa, --schedule, --machine and --set."""
    for decorate in (
        settings_option,
        machine_option("as described"),
        click.option(
            "--isa", multiple=True, metavar="FILE", type=click.Path(path_type=Path),
            help="Use the instructions that this file describes too; may be repeated.",
        ),
        click.option(
            "--schedule", metavar="NAME", shell_complete=completion.schedules,
            help="The schedule to use [default: the first for the target, else `auto`, which hbc makes;"
            " `none`: plain loops].",
        ),
        click.option(
            "--target", metavar="NAME", shell_complete=completion.targets,
            help="What to compile for [default: of those that run here, the best that the file has a"
            " schedule for].",
        ),
        kernel_option,
    ):  # fmt: skip
        function = decorate(function)
    return function


def native_options(function: Function) -> Function:
    """--threads, --timeout, --emulate and --on-cpu: how compiled code is run."""
    for decorate in (
        click.option(
            "--on-cpu", is_flag=True,
            help="Let the processor run CUDA code, thread by thread; `hbc verify` does where no GPU is.",
        ),
        click.option(
            "--emulate", is_flag=True,
            help="Let an emulator execute AMX, also where the processor could [default: where it cannot]; C "
            "functions stand for AVX-512 that is missing.",
        ),
        click.option(
            "--timeout", type=Seconds(min=0, min_open=True, max=LONGEST), default=600.0,
            show_default=True, metavar="SECONDS", help="Give up on one call after this long.",
        ),
        click.option(
            "--threads", type=click.IntRange(1, 4096), metavar="N",
            help="Threads of parallel loops [default: OMP_NUM_THREADS, else as said above].",
        ),
    ):  # fmt: skip
        function = decorate(function)
    return function


def with_loudness(command: click.Command) -> click.Command:
    """The command with --quiet and --verbose, which all have."""

    def chosen(ctx: click.Context, param: click.Parameter, value: bool) -> None:
        if value and not ctx.resilient_parsing:
            be(Loudness.QUIET if param.name == "quiet" else Loudness.VERBOSE)

    if all(param.name != "quiet" for param in command.params):
        command.params += [
            click.Option(
                ["-q", "--quiet"], is_flag=True, expose_value=False, callback=chosen,
                help="Say nothing on stderr but errors and warnings.",
            ),
            click.Option(
                ["-v", "--verbose"], is_flag=True, expose_value=False, callback=chosen,
                help="Say on stderr what is done and when: steps, compilers' command lines, what was kept.",
            ),
        ]  # fmt: skip
    return command


example_option = click.option(
    "--example", metavar="NAME", help="The example to use [default: the first one]."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON with stable keys.")


def named_paths(option: str, texts: tuple[str, ...], names: tuple[str, ...]) -> dict[str, Path]:
    """`A=x.npy` texts as a dictionary. A text without a name means the only array there is."""
    paths: dict[str, Path] = {}
    for text in texts:
        match = NAMED.fullmatch(text)
        if match and (match[1] in names or not Path(text).exists()):
            name, path = match[1], match[2]
        elif len(names) == 1:
            name, path = names[0], text
        else:
            listed = " or ".join(f"{option} {name}={text}" for name in names)
            raise UsageError(
                Diagnostic(f"`{option} {text}` does not say which array it is", hint=listed)
            )
        if name not in names:
            listed = ", ".join(f"`{one}`" for one in names) or "none"
            raise UsageError(
                Diagnostic(f"`{option} {text}`: there is no `{name}`", hint=f"there is {listed}")
            )
        if name in paths:
            raise UsageError(Diagnostic(f"`{option} {name}=...` is given twice"))
        paths[name] = Path(path)
    return paths


def refuse_one_file_for_several(option: str, paths: Mapping[str, Path]) -> None:
    """UsageError where two arrays are to be written to one file, whatever it is called."""
    names_by_path: dict[Path, str] = {}
    for name, path in paths.items():
        other = names_by_path.setdefault(path.resolve(), name)
        if other != name:
            raise UsageError(
                Diagnostic(
                    f"`{option} {other}={paths[other]}` and `{option} {name}={path}` are one file",
                    hint="each output needs a file of its own",
                )
            )


def thread_count(threads: int | None, otherwise: int, parallel: bool) -> int:
    """--threads, else OMP_NUM_THREADS, else `otherwise`; 1 for code without parallel loops."""
    if not parallel:
        return 1
    if threads is not None:
        return threads
    # OMP_NUM_THREADS may be a list, one number for each level of nesting.
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) if first.isdecimal() and int(first) > 0 else otherwise
