"""The kernel that README shows is the sample that it names."""

from __future__ import annotations

import re
from pathlib import Path

from hbc.frontend.checks.check import check
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source

ROOT = Path(__file__).resolve().parents[2]


def test_the_first_kernel_is_the_sample() -> None:
    """Paragraph by paragraph, its schedules for other processors left out."""
    sample = (ROOT / "samples" / "gemm_f32.hb").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)
    shown = next(text for language, text in blocks if language == "" and "schedule" in text)
    others = re.compile(r"(?:#[^\n]*\n)*schedule \w+ for (?!avx512 )[^}]*}\n\n")
    assert shown == others.sub("", sample).partition("\n\n")[2]
    assert [s.targets for s in check(parse(Source("README.md", shown)), {}).schedules] == [
        ("avx512",)
    ]
