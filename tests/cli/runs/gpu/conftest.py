"""A machine that seems to have a GPU: a fake driver, fake loaders over it, and an nvcc that makes code for
the processor. Everything but the driver's calls is the product's own."""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from hbc.cli.api import gpu_device
from hbc.cli.main import exit_code_of
from hbc.cli.roof.roofs import Roofs, store_roofs
from hbc.codegen.build import gpu, nvcc
from hbc.codegen.build.toolchain import find_compiler

HERE = Path(__file__).parent
LOADERS = {
    "pycuda": ("pycuda", "fake_pycuda.py"),
    "cuda-bindings": ("cuda/bindings", "fake_cuda_bindings.py"),
}
LIBRARY = "libcuda.so.1"
TERA = 1e12
ROOFS = Roofs(1, {"f32": TERA, "f16": 10 * TERA}, {"DRAM": TERA, "L2": 2 * TERA}, {"L2": 1 << 20})


@dataclass(frozen=True)
class Said:
    """What a command line did."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Machine:
    """`hbc` runs a command line; `log` is what the fake driver noted."""

    hbc: Callable[..., Said]
    log: Path
    folder: Path

    def kernel(self, text: str) -> Path:
        path = self.folder / "k.hb"
        path.write_text(text)
        return path


@pytest.fixture(scope="session")
def fakes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for each loader, the driver's library, and a cache."""
    folder = tmp_path_factory.mktemp("fakes")
    for loader, (package, source) in LOADERS.items():
        place = folder / loader / package
        place.mkdir(parents=True)
        (place / "__init__.py").write_text("")
        shutil.copy(HERE / source, place / "driver.py")
        shutil.copy(HERE / "fake_device.py", place / "fake_device.py")
    command = [*find_compiler().command, "-shared", "-fPIC", str(HERE / "fake_libcuda.c")]
    subprocess.run([*command, "-o", str(folder / "libcuda.so.1")], check=True)
    (folder / "cache").mkdir()
    return folder


def forget() -> None:
    for function in (
        gpu._driver,
        gpu.gpu_count,
        gpu.gpu_facts,
        gpu.arch_of,
        gpu_device._context,
        nvcc.find_nvcc,
        nvcc._version,
    ):
        function.cache_clear()


@pytest.fixture(params=sorted(LOADERS))
def loader(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def machine(
    fakes: Path, loader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Iterator[Machine]:  # fmt: skip
    """With one of the loaders installed."""
    forget()
    real = ctypes.CDLL
    library = str(fakes / "libcuda.so.1")
    monkeypatch.setattr(gpu.ctypes, "CDLL", lambda name: real(library if name == LIBRARY else name))
    monkeypatch.setattr(gpu, "LOADERS", {loader: gpu.LOADERS[loader]})
    monkeypatch.syspath_prepend(str(fakes / loader))
    inherited = os.environ.get("PYTHONPATH")
    paths = filter(None, [str(fakes / loader), inherited])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    monkeypatch.setenv("NVCC", shlex.join([sys.executable, str(HERE / "fake_nvcc.py")]))
    monkeypatch.setenv("HBC_CACHE", str(fakes / "cache"))
    monkeypatch.setenv("FAKE_CUDA_LOG", str(tmp_path / "log"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    def hbc(*arguments: str | Path) -> Said:
        capfd.readouterr()
        code = exit_code_of([str(argument) for argument in arguments])
        said = capfd.readouterr()
        return Said(code, said.out, said.err)

    yield Machine(hbc, tmp_path / "log", tmp_path)
    monkeypatch.undo()
    forget()


@pytest.fixture
def known_roofs(machine: Machine, fakes: Path) -> None:
    """The card's roofs are in the cache: measuring takes a card."""
    from hbc.cli.roof.gpu_roofs import _key

    store_roofs(fakes / "cache" / f"roofs-{_key(gpu.gpu_facts())}.json", ROOFS, "Fake GPU")
