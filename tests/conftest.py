"""Makes an uninstalled clone importable as `hbc`, and says loudly what was skipped and why."""

import gc
import inspect
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("cli", "frontend", "ir", "eqsat", "synth", "codegen")


def imported_from() -> Path | None:
    """The root of the copy of hbc that an import finds now."""
    spec = find_spec("hbc.ir") if find_spec("hbc") else None
    return Path(spec.origin).resolve().parent.parent if spec and spec.origin else None


# Not installed, or another copy is. Links rather than a module made by hand, so that
# `python -m hbc.cli.main` in a subprocess works too; one link for each part, because a single
# link to the root would contain itself.
if imported_from() != ROOT:
    links = ROOT / "build" / "path" / "hbc"
    links.mkdir(parents=True, exist_ok=True)
    for part in (*PACKAGES, "__init__.py", "__main__.py"):
        if not (links / part).is_symlink():
            (links / part).symlink_to(Path("..", "..", "..", part))
    sys.path.insert(0, str(links.parent))
    sys.modules.pop("hbc", None)
    inherited = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(links.parent), inherited]))

# Movements that a user has learned are nothing that tests know of.
os.environ["HBC_MOVEMENTS"] = os.devnull
# Nor of what was measured on this machine.
os.environ["HBC_MACHINE"] = "none"

# A shell starts what runs behind it with Ctrl-C ignored, which children inherit: tests of signals, and what
# they test, would wait for ever.
if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    and threading.current_thread() is threading.main_thread()
):
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Programs under ThreadSanitizer otherwise wait for a second before they end, for threads that still run: ours
# have joined them.
os.environ.setdefault("TSAN_OPTIONS", "atexit_sleep_ms=0")

# A time limit on each example fails on a busy machine, and says nothing about the program. The suite
# draws the same examples each time, so that a commit passes or does not; `make fuzz` and `make robust`
# draw new ones (--hypothesis-profile=explore).
hypothesis.settings.register_profile("hbc", deadline=None, print_blob=True, derandomize=True)
hypothesis.settings.register_profile("explore", deadline=None, print_blob=True)
# What is drawn for `make check`, where a test does not say how many it needs.
hypothesis.settings.register_profile(
    "quick", deadline=None, print_blob=True, derandomize=True, max_examples=20
)
hypothesis.settings.load_profile("hbc")

# Helpers have names of their own (tests/layering): those of any folder may be imported from any other.
TESTS = Path(__file__).parent
sys.path[:0] = sorted(
    {str(f.parent) for f in TESTS.rglob("*/*.py") if not f.name.startswith(("test_", "conftest"))}
)

import suite_compiles  # noqa: E402
import suite_costs  # noqa: E402
import suite_headers  # noqa: E402
import suite_marks  # noqa: E402
from suite_goldens import golden  # noqa: E402, F401


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("hbc")
    group.addoption("--room", help="only tests that use a room, as codegen/neon, or one above it")
    group.addoption("--record-costs", type=Path, metavar="FILE", help="write what tests cost")
    group.addoption("--cases", type=int, help="at most so many cases of each test function")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(suite_costs.Costs(config), "hbc-costs")
    config.pluginmanager.register(suite_marks.Marks(config), "hbc-marks")
    if not hasattr(config, "workerinput"):
        suite_compiles.forget()
        if hasattr(config.option, "loadscopereorder"):
            config.option.loadscopereorder = False  # suite_costs.longest_first knows better


def pytest_collection_finish() -> None:
    """Python's collector, which otherwise looks every 700 objects, takes a seventh of what tests of
    compilations do. What was collected stays."""
    from hbc.cli.main import OBJECTS_BEFORE_COLLECTION

    gc.collect()
    gc.freeze()
    gc.set_threshold(OBJECTS_BEFORE_COLLECTION)


@pytest.fixture(autouse=True)
def _folders_that_were_not_used() -> Iterator[None]:
    """A command says at its end which caches it could not use: not those of the test before."""
    yield
    module = sys.modules.get("hbc.ir.host.cache_folder")
    if module is not None:
        module.forget_refused()


@pytest.fixture(scope="session", autouse=True)
def _compiles() -> Iterator[None]:
    """Compilers run once for each text: see suite_compiles.py. Parallel loops always start their threads."""
    from hbc.codegen.build import cuda_cpu, run_tool
    from hbc.codegen.c.work import MACRO

    compiles: suite_compiles.Compile = run_tool.compile_with
    said = os.environ.get(suite_compiles.VARIABLE, "")
    if said != "run":
        folder = Path(said) if said else suite_compiles.FOLDER
        headers = suite_headers.Precompiled(folder / suite_compiles.HEADERS)
        compiles = suite_compiles.Compiles(
            run_tool.compile_with, folder,
            faster=lambda words: suite_headers.linked_sooner(headers(suite_headers.less_optimized(words))),
        )  # fmt: skip

    def on_threads(arguments: Sequence[str], made: Path) -> "subprocess.CompletedProcess[str]":
        """Parallel loops start their threads however small they are."""
        more = [f"-D{MACRO}=0"] if "-fopenmp" in arguments else []
        return compiles([*arguments, *more], made)

    with pytest.MonkeyPatch.context() as patch:
        for module in (cuda_cpu, run_tool):
            patch.setattr(module, "compile_with", on_threads)
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool:
    """Each test as commands run: with one chunk of memory for Python's frames."""
    from hbc.cli.show.frames import with_room

    test = pyfuncitem.obj
    values = pyfuncitem.funcargs
    given = {n: values[n] for n in inspect.signature(test).parameters if n in values}
    with_room(lambda: test(**given))
    return True


@pytest.fixture(scope="session")
def sanitizer_runtimes() -> str | None:
    """For LD_PRELOAD: what a process must load first when a library in it is built with gcc's
    address and undefined-behaviour sanitizers; None when there is no such gcc."""
    from hbc.codegen.build.toolchain import find_compiler

    compiler = find_compiler()
    if compiler.kind != "gcc":
        return None
    found = []
    for library in ("libasan.so", "libubsan.so"):
        answer = subprocess.run(
            [*compiler.command, f"-print-file-name={library}"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        path = Path(answer.stdout.strip())
        if not path.is_absolute():
            return None
        found.append(str(path))
    return " ".join(found)


@pytest.fixture
def nvcc() -> tuple[str, ...]:
    """The command that compiles CUDA; the test is skipped where there is none, which CI may not have:
    the same files are compiled for the processor and executed everywhere."""
    from hbc.codegen.build.nvcc import find_nvcc
    from hbc.ir.ground.diag import ToolError

    try:
        return find_nvcc()
    except ToolError as e:
        pytest.skip(str(e.diagnostics[0].message))


def pytest_report_header() -> str:
    """Says which copy of hbc is tested."""
    return f"hbc: {imported_from()}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Lists every reason for a skip with its count, most frequent first."""
    skipped = terminalreporter.stats.get("skipped", [])
    if not skipped:
        return
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        if isinstance(report.longrepr, tuple)
        else str(report.longrepr)
        for report in skipped
    )
    terminalreporter.section(f"{len(skipped)} SKIPPED", yellow=True, bold=True)
    for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
        terminalreporter.line(f"{count:5} x {reason}", yellow=True)
