"""The examples of the documentation that import hbc run, each in a process of its own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = [
    pytest.param(block[1], id=f"{page.name}:{page.read_text()[: block.start()].count(chr(10)) + 1}")
    for page in sorted(DOCS.glob("*.md"))
    for block in BLOCK.finditer(page.read_text(encoding="utf-8"))
    if "import hbc\n" in block[1]
]


@pytest.mark.parametrize("text", EXAMPLES)
def test_it_runs(text: str, tmp_path: Path) -> None:
    program = tmp_path / "example.py"
    program.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
