"""Pins every message about instruction descriptions: each `.hb` in `errors` has a `.stderr`.

The files are read together with the descriptions that hbc brings. What the message says is done in the
`.fixed.hb`, which describes something.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from suite_goldens import Golden, assert_fixed_or_listed, cases, fixed

from hbc.codegen.text.instruction_files import builtin_descriptions
from hbc.frontend.isa import load
from hbc.frontend.isa.load import describe, load_instructions, read_source
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.source import Source

HERE = Path(__file__).parent / "errors"


@pytest.fixture(scope="module")
def builtin() -> Iterator[list[Source]]:
    """Parsed once, which is most of a case; together with the others they are checked each time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(load, "parse_descriptions", cache(load.parse_descriptions))
        yield [Source(path.name, read_source(path).text) for path in builtin_descriptions()]


@pytest.mark.parametrize("file", cases(HERE), ids=lambda file: file.stem)
def test_message(file: Path, builtin: list[Source], golden: Golden) -> None:
    text = file.read_text(encoding="utf-8")
    golden.refuses(file, lambda: describe([*builtin, Source(file.name, text)]))


@pytest.mark.parametrize("file", cases(HERE), ids=lambda file: file.stem)
def test_the_hint_is_true(file: Path, builtin: list[Source]) -> None:
    repaired = fixed(file)
    describe([*builtin, Source(repaired.name, repaired.read_text(encoding="utf-8"))])


def test_every_case_has_a_fixed_version() -> None:
    assert_fixed_or_listed(HERE, {})


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    lost, bytes_ = tmp_path / "lost.hb", tmp_path / "bytes.hb"
    bytes_.write_bytes(b"\xff\xfe")
    with pytest.raises(HbcError, match=r"cannot read `.*lost\.hb`: No such file"):
        load_instructions([lost])
    with pytest.raises(HbcError, match="is not UTF-8 text"):
        load_instructions([bytes_])


def test_a_description_of_a_thousand_terms() -> None:
    deep = "l" + " + l" * 1000
    text = f"instruction deep(c: i32[4]) in xmm {{ c[{deep}] += c[l] }}"
    with pytest.raises(HbcError, match="nests deeper than 200 operations"):
        describe([Source("deep.hb", text)])
