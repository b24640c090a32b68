"""The benchmark scripts with stand-ins for hbc and for the peers: what they call, and in which turn."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[2] / "samples"
BENCH = SAMPLES / "bench"
ALL = "all.sh"
OTHERS = (ALL, "common.sh", "compile_time.sh", "permute.sh", "permute_costs.sh", "synth.sh",
          "gpu.sh", "hvx_packets.sh", "warp_costs.sh", "auto.sh", "unit.sh",
          "movement.sh", "functions.sh")  # of no sample  # fmt: skip
SCRIPTS = sorted(path.name for path in BENCH.glob("*.sh") if path.name not in OTHERS)

# Both write their arguments to $CALLS. The first knows no kernel named in $BROKEN.
HBC = """#!/bin/sh
echo "hbc $*" >>"$CALLS"
case $2 in */"${BROKEN:-none}.hb") exit 70 ;; esac
echo '{"kernel": "k", "target": "c", "threads": 1, "seconds_median": 0.5, "gflops": 2.0,'
echo ' "gbytes_per_s": 1.0, "roof_share": 0.5, "roof": {"bound": "compute"},'
echo ' "compile_seconds": 0.1, "c_compiler_seconds": 0.2}'
"""
PEERS = """#!/bin/sh
echo "peer $* threads=$OMP_NUM_THREADS" >>"$CALLS"
echo '{"peer": "numpy", "version": "2.0", "seconds_median": 1.0, "note": "matmul"}'
echo '{"peer": "halide", "missing": "pip install halide"}'
"""
# For table.py only: machine.py would measure this machine.
PYTHON = f"""#!/bin/sh
case $1 in */machine.py) exit 1 ;; esac
exec "{sys.executable}" "$@"
"""


class Bench:
    """Runs scripts and tells which commands they called."""

    def __init__(self, folder: Path) -> None:
        self.calls = folder / "calls"
        for name, text in {"hbc": HBC, "peers": PEERS, "python": PYTHON}.items():
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HBC": str(folder / "hbc"),
            "PEER_PYTHON": str(folder / "peers"),
            "CALLS": str(self.calls),
            "TMPDIR": str(folder),
            "ROUNDS": "1",
        }

    def run(
        self, script: str, *arguments: str, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        self.calls.write_text("")
        return subprocess.run(
            [BENCH / script, *arguments],
            env=self.environment | environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def made(self, start: str = "") -> list[str]:
        return [line for line in self.calls.read_text().splitlines() if line.startswith(start)]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_there_is_a_script_for_every_sample() -> None:
    samples = {path.stem for path in SAMPLES.glob("*.hb")} - {"attention_fused"}
    samples -= {"depthwise_u8s8", "grouped_u8s8", "conv2d_nchwc_u8s8"}  # without a peer
    samples -= {"conv2d_u8s8", "conv2d_bf16", "conv3d_u8s8"}  # unit.sh: their tables of layers
    assert {Path(name).stem for name in SCRIPTS} == samples


@pytest.mark.parametrize("script", SCRIPTS)
def test_names_of_sizes(bench: Bench, script: str) -> None:
    """hbc is given every size of the sample, the peers only names that they know."""
    done = bench.run(script)
    assert (done.returncode, bench.made("hbc") != []) == (0, True)
    for call in bench.made("hbc"):
        path = re.search(r"bench (\S+\.hb) --json", call)
        assert path is not None
        text = Path(path[1]).read_text()
        line = re.search(r"^size +(.*)$", text, re.MULTILINE)
        assert line is not None
        sizes = set(line[1].split(", "))
        settings = set(re.findall(r"--set (\w+)=[\d.-]+(?= |$)", call))
        params = set(re.findall(r"^param +(\w+)", text, re.MULTILINE))
        assert sizes <= settings <= sizes | params
        example = re.search(r"--example (\w+)", call)
        assert example is None or f"example {example[1]} " in text
    for call in bench.made("peer"):
        _, peer, *words = call.split()
        known = re.search(r"read_sizes\((.*)\)", Path(peer).read_text())
        assert known is not None
        assert {word.partition("=")[0] for word in words[:-1]} <= set(
            re.findall(r"(\w+)=", known[1])
        )


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_size_is_overridden(bench: Bench, script: str) -> None:
    name = re.search(r"\[(\w+)=", (BENCH / script).read_text())
    assert name is not None
    done = bench.run(script, f"{name[1]}=352")
    assert done.returncode == 0
    assert all("=352" in call for call in bench.made())


def test_turns(bench: Bench) -> None:
    """hbc and the peers alternate; the thread count reaches both."""
    done = bench.run("conv1d.sh", "T=8 16", ROUNDS="2", THREADS="2")
    assert [call.split()[0] for call in bench.made()] == ["hbc", "peer"] * 4
    assert all("--threads 2 " in call for call in bench.made("hbc"))
    assert all(call.endswith("threads=2") for call in bench.made("peer"))
    assert "2.00x" in done.stdout
    assert "not installed: halide (`pip install halide`)" in done.stdout


@pytest.mark.parametrize("script", SCRIPTS)
def test_no_script_decides_for_the_machine(bench: Bench, script: str) -> None:
    """hbc takes the best target that there is, unless it is told which."""
    bench.run(script)
    asked = bench.made("hbc")
    assert asked and not any("--target" in call or "--schedule" in call for call in asked)
    bench.run(script, TARGET="amx", SCHEDULE="auto")
    told = [call.replace(" --target amx --schedule auto", "") for call in bench.made("hbc")]
    assert told == asked and len(bench.made("hbc")[0]) > len(asked[0])


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("X=1", "cannot read `X=1`; known, with defaults: H='2048' W='2048' T='16 32'"),
        ("H", "`H` wants positive integers, not `H`"),
        ("H=", "`H` wants positive integers, not ``"),
        ("H=0", "`H` wants positive integers, not `0`"),
        ("H=1 2", "`H` wants positive integers, not `1 2`"),
        ("T=", "`T` wants positive integers, not ``"),
        ("T=16 x", "`T` wants positive integers, not `16 x`"),
        ("$(exit)=1", "cannot read `$(exit)=1`"),
    ],
)
def test_arguments_that_make_no_sense(bench: Bench, argument: str, message: str) -> None:
    done = bench.run("conv2d.sh", argument)
    assert (done.returncode, bench.made()) == (2, [])
    assert f"conv2d.sh: {message}" in done.stderr


def test_help(bench: Bench) -> None:
    done = bench.run("resize.sh", "--help")
    assert (done.returncode, done.stderr, bench.made()) == (0, "", [])
    assert done.stdout.startswith("resize.sh [IN=2048] [OUT='143 245 450 921']: ")
    assert "\n  PEER_PYTHON " in done.stdout


def test_no_hbc(bench: Bench) -> None:
    done = bench.run("gemm_f32.sh", HBC="no-such-command")
    assert done.returncode == 2
    assert "gemm_f32.sh: there is no command `no-such-command`" in done.stderr


def test_all_goes_on_after_a_failure(bench: Bench) -> None:
    """One table at the end, exit code 1, no temporary file left."""
    before = sorted(bench.calls.parent.iterdir())
    done = bench.run(ALL, "gemm_f32", "conv_layer", BROKEN="gemm_f32")
    assert done.returncode == 1
    assert [call.split()[0] for call in bench.made()] == ["hbc", "hbc", "peer", "hbc", "peer"]
    assert done.stdout.count("hbc ms") == 1
    assert "Failed: hbc at gemm_f32 1024x1024x1024, exit code 70." in done.stdout
    assert "conv_layer  5x80x100, 128 to 128 channels" in done.stdout
    assert sorted(bench.calls.parent.iterdir()) in (before, [bench.calls, *before])


def test_all_runs_every_script(bench: Bench) -> None:
    text = (BENCH / ALL).read_text()
    listed = re.search(r"WORKLOADS='([^']*)'", text)
    assert listed is not None
    assert sorted(f"{name}.sh" for name in listed[1].split()) == SCRIPTS
    done = bench.run(ALL, "conv3d")
    assert done.returncode == 2
    assert "there is no `conv3d`" in done.stderr


def test_a_kept_record_is_measured_again_in_part(bench: Bench, tmp_path: Path) -> None:
    record = str(tmp_path / "record")
    bench.run("gemm_f32.sh", RECORD=record)
    bench.run("gemm_bf16.sh", RECORD=record)
    done = bench.run("gemm_f32.sh", RECORD=record)
    rows = [line.split()[0] for line in done.stdout.splitlines() if "1024x1024x1024 " in line]
    assert rows == ["gemm_f32", "gemm_bf16"]


def test_what_describes_the_machine_can_be_imported() -> None:
    done = subprocess.run([sys.executable, "-c", "import machine"], cwd=BENCH, check=False)
    assert done.returncode == 0
