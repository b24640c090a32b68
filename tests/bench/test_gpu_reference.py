"""NumPy's rows for large sizes, beside the oracle at small ones: right results pass, a wrong one does not."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from hbc.cli.files.inputs import choose_example, gather_inputs
from hbc.cli.pipeline import load_pipeline
from hbc.frontend.oracle.oracle import evaluate

SAMPLES = Path(__file__).parents[2] / "samples"
SIZES = {
    "gemm_f16": {"M": 9, "N": 7, "K": 300},
    "conv1d": {"H": 3, "W": 40, "T": 13},
    "conv2d": {"H": 5, "W": 40, "T": 7},
    "downsample": {"H": 5, "W": 40, "T": 7},
    "upsample": {"H": 9, "W": 41, "T": 7},
    "conv_layer": {"N": 2, "H": 3, "W": 5, "C": 19, "K": 8},
    "attention": {"B": 2, "L": 70, "D": 24},
    "attention_fused": {"B": 2, "L": 64},
}


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    spec = spec_from_file_location("gpu_reference", SAMPLES / "bench" / "gpu_reference.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_reference_is_tried(reference: ModuleType) -> None:
    assert set(reference.REFERENCES) == set(SIZES)


@pytest.mark.parametrize("sample", SIZES)
def test_against_the_oracle(reference: ModuleType, sample: str) -> None:
    p = load_pipeline(SAMPLES / "cuda" / f"{sample}.hb", {})
    settings = {name: str(n) for name, n in SIZES[sample].items()}
    inputs = gather_inputs(p, settings, choose_example(p, None), {}).inputs
    (found,) = evaluate(p, SIZES[sample], inputs).values()
    output = np.asarray(found.value).astype(np.float32)
    share = reference.compare(sample, inputs, output, np.random.default_rng(1))
    assert 0 < share < 1
    wrong = output + np.float32(0.02) * np.abs(output).max()
    assert reference.compare(sample, inputs, wrong, np.random.default_rng(1)) > 1
