"""Lines of the applications beside Halide's, for processors: `app_lines.py HALIDE`, a checkout of it.

Counted without blanks, comments and closing braces; of Halide without its schedules for GPUs, what is there
for the autoscheduler and the registration, of hbc without `example`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

APPS = Path(__file__).parent.parent / "apps"
SAME = (
    "harris", "unsharp", "local_laplacian", "bilateral_grid", "camera_pipe", "interpolate", "nl_means",
    "stencil_chain", "max_filter", "iir_blur", "hist", "lens_blur", "bgu", "depthwise_separable_conv",
)  # fmt: skip
GENERATORS = {
    "blur": "blur/halide_blur_generator.cpp",
    "quantised_conv": "hannk/halide/conv_generator.cpp",
    "quantised_pool": "hannk/halide/pool_generator.cpp",
} | {name: f"{name}/{name}_generator.cpp" for name in SAME}
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
ELSEWHERE = re.compile(
    r"if \((?:(?:get_)?target(?:\(\))?\.has_gpu_feature\(\)|using_autoscheduler\(\)"
    r"|get_target\(\)\.has_feature\(Target::(?:CUDA|HVX)[^)]*\))\)"
)
FRAME = re.compile(
    r"\s*(#|namespace|using |HALIDE_REGISTER|\}\s*;?\s*$|public:|private:|\}\s*else|.*estimate)"
)


def without_others(text: str) -> str:
    """Without the branches for what is no processor."""
    while found := ELSEWHERE.search(text):
        begin, depth = text.index("{", found.start()), 0
        for end in range(begin, len(text)):
            depth += (text[end] == "{") - (text[end] == "}")
            if depth == 0:
                text = text[: found.start()] + "}" + text[end + 1 :]
                break
    return text


def halide_lines(file: Path) -> int:
    text = COMMENT.sub("", file.read_text(encoding="utf-8")).partition("class TileConvFilter")[0]
    lines = without_others(text).splitlines()
    return sum(bool(line.strip()) and not FRAME.match(line) for line in lines)


def hbc_lines(file: Path) -> int:
    text = file.read_text(encoding="utf-8").partition("\nexample")[0]
    return sum(bool(line.strip()) and not line.startswith("#") for line in text.splitlines())


def main() -> None:
    print("| application | hbc | Halide | hbc / Halide |")
    print("|---|---:|---:|---:|")
    for name, file in GENERATORS.items():
        own, other = hbc_lines(APPS / f"{name}.hb"), halide_lines(Path(sys.argv[1]) / "apps" / file)
        print(f"| {name} | {own} | {other} | {own / other:.2f} |")


if __name__ == "__main__":
    main()
