"""`async` under the thread sanitizer: the halves of an iteration touch no element that the other one writes.

The sanitizer does not know the threads of gcc's OpenMP, so what gcc calls for a parallel loop is here a
function of two pthreads.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from outlines import with_schedule

from hbc.cli.pipeline import load_pipeline, lower_to_kernel
from hbc.codegen.c.file import emit_c
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import TARGETS

TEAM = """
#include <pthread.h>
static __thread int number, many = 1;
struct part { void (*run)(void *); void *data; };
static void *second(void *p) {
    number = 1; many = 2;
    ((struct part *)p)->run(((struct part *)p)->data);
    return 0;
}
void GOMP_parallel(void (*run)(void *), void *data, unsigned threads, unsigned flags) {
    struct part p = {run, data};
    pthread_t other;
    (void)threads; (void)flags;
    pthread_create(&other, 0, second, &p);
    many = 2; run(data); many = 1;
    pthread_join(other, 0);
}
int omp_get_num_threads(void) { return many; }
int omp_get_thread_num(void) { return number; }
"""
MAIN = """
#include <stdlib.h>
#include "blur.h"
int main(void) {
    for (int h = 1; h < 40; h += 6)
        for (int w = 1; w < 30; w += 9) {
            float *in = calloc(h * w, sizeof *in), *out = calloc(h * w, sizeof *out);
            if (blur(H_W, in, out) != 0) return 1;
            free(in); free(out);
        }
    return 0;
}
"""
BLUR = """
size   H, W
input  I: f32[H, W]
output O: f32[H, W]
P = clamp_edge(I)
rows[y, x] = P[y, x - 1] + P[y, x] + P[y, x + 1]
more[y, x] = rows[y, x] * rows[y + 1, x]
O[y, x] = rows[y - 1, x] + 2.0 * more[y, x] + more[y - 1, x]
"""
SCHEDULE = (
    "O.split(y, yo, yi, 4).vectorize(x, 4) rows.compute_at(O, yo).vectorize(x, 4).async()"
    " more.compute_at(O, yo).async()"
)


@pytest.mark.skipif(
    shutil.which("gcc") is None, reason="its OpenMP calls are replaced: there is no gcc"
)
@pytest.mark.parametrize("halves", [2, 1])
def test_threads_race_in_one_buffer_and_not_in_two(halves: int, tmp_path: Path) -> None:
    text = with_schedule(BLUR, SCHEDULE)
    pipeline = load_pipeline(Source("blur.hb", text), {})
    kernel = lower_to_kernel(pipeline, pipeline.schedules[0], TARGETS["c"])
    source = emit_c(kernel, TARGETS["c"])
    code = source.text
    if halves == 1:  # both threads in the first buffer
        code, changed = re.subn(r"\(yo \+ 1\) & 1|yo & 1", "0", code)
        assert changed >= 4
    for name, content in (
        ("blur.c", code), ("blur.h", source.header), ("team.c", TEAM),
        ("main.c", MAIN.replace("H_W", "h, w")),
    ):  # fmt: skip
        (tmp_path / name).write_text(content)
    flags = ["-O1", "-g", "-fsanitize=thread"]
    build = [
        ["gcc", *flags, "-fopenmp", "-DHBC_PARALLEL_FROM=0", "-c", "blur.c"],
        ["gcc", *flags, "blur.o", "team.c", "main.c", "-lm", "-lpthread", "-o", "raced"],
    ]
    for command in build:
        made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        if made.returncode != 0 and "tsan" in made.stderr:
            pytest.skip("gcc has no thread sanitizer here")
        assert made.returncode == 0, made.stderr
    run = subprocess.run(["./raced"], cwd=tmp_path, capture_output=True, text=True)
    assert ("data race" in run.stderr) == (halves == 1), run.stderr[:2000]
    assert (run.returncode == 0) == (halves == 2)
