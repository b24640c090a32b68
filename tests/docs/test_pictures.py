"""The picture in docs/synthesis.md is the one that `hbc synth` draws of the example before it."""

import re
from pathlib import Path

from hbc.cli.main import exit_code_of

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def test_the_worked_example(tmp_path: Path) -> None:
    """By `hbc synth EXAMPLE.sf --picture docs/synthesis.svg`, in a folder with the prelude."""
    text = (DOCS / "synthesis.md").read_text(encoding="utf-8")
    example = re.search(r"## A worked example.*?```sf solve\n(.*?)```", text, re.DOTALL)
    assert example is not None
    prelude = ROOT / "samples" / "sketches" / "prelude.sf"
    sketch = tmp_path / "example.sf"
    sketch.write_text(example[1].replace('"prelude.sf"', f'"{prelude}"'), encoding="utf-8")
    made = tmp_path / "example.svg"
    assert exit_code_of(["synth", str(sketch), "--picture", str(made)]) == 0
    drawn, shown = (f.read_text(encoding="utf-8") for f in (made, DOCS / "synthesis.svg"))
    assert drawn == shown, f"draw it again: hbc synth {sketch} --picture docs/synthesis.svg"
