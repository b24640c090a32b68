"""Stands for nvcc: makes the library for the processor instead, from the same text."""

from __future__ import annotations

import sys
from pathlib import Path

from hbc.codegen.build.cuda_cpu import build


def main(arguments: list[str]) -> None:
    if "--version" in arguments:
        print("Cuda compilation tools, release 13.0, V13.0.88")
        return
    assert "-shared" in arguments, arguments
    assert "arch=compute_90,code=sm_90" in arguments, arguments
    (source,) = (Path(a) for a in arguments if a.endswith(".cu"))
    out = Path(arguments[arguments.index("-o") + 1])
    build(source.read_text(), out, "so", name=source.stem, extra=(f"-I{source.parent}",))


if __name__ == "__main__":
    main(sys.argv[1:])
