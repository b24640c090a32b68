"""Pins barriers, shuffles, votes and thread orders of CUDA on the CPU, and what it finds wrong."""

import subprocess
from pathlib import Path
from signal import SIGABRT

import pytest
from cuda_programs import Programs

from hbc.codegen.build.cuda_cpu import ORDERS, Sanitizer, build

FULL = "0xffffffffu"

RIGHT = {
    "reversed in shared memory": (
        "__shared__ int s[64]; s[t] = t; __syncthreads(); out[t] = s[63 - t];",
        [63 - t for t in range(64)],
    ),
    "dynamic shared memory": (
        "extern __shared__ __align__(16) int s[]; s[t] = 2 * t; __syncthreads(); out[t] = s[t ^ 1];",
        [2 * (t ^ 1) for t in range(64)],
    ),
    "shuffle by index": (
        f"out[t] = __shfl_sync({FULL}, t * 10, t + 3);",
        [(t // 32 * 32 + (t + 3) % 32) * 10 for t in range(64)],
    ),
    "shuffle within eight": (
        f"out[t] = __shfl_sync({FULL}, t, t + 3, 8);",
        [t // 8 * 8 + (t + 3) % 8 for t in range(64)],
    ),
    "shuffle up": (
        f"out[t] = __shfl_up_sync({FULL}, t, 2, 16);",
        [t - 2 if t % 16 >= 2 else t for t in range(64)],
    ),
    "shuffle down": (
        f"out[t] = __shfl_down_sync({FULL}, t, 5);",
        [t + 5 if t % 32 < 27 else t for t in range(64)],
    ),
    "butterfly": (
        f"out[t] = __shfl_xor_sync({FULL}, t, 21);",
        [t ^ 21 for t in range(64)],
    ),
    "half of a warp": (
        "if (t % 32 < 16) out[t] = __shfl_xor_sync(0xffffu, t, 1); else __syncwarp(0xffff0000u);",
        [t ^ 1 if t % 32 < 16 else 0 for t in range(64)],
    ),
    "votes": (
        f"out[t] = (__ballot_sync({FULL}, t % 3 == 0) == 0x49249249u) + 2 * __any_sync({FULL}, t == 40)"
        f" + 4 * __all_sync({FULL}, t < 32);",
        [5] * 32 + [2] * 32,
    ),
    "reductions": (
        f"out[t] = __reduce_add_sync({FULL}, t) + __reduce_max_sync({FULL}, -t);",
        [496] * 32 + [496 + 1024 - 32] * 32,
    ),
    "counted barrier": ("out[t] = __syncthreads_count(t % 4 == 0);", [16] * 64),
    "those that returned": (
        "if (t >= 40) return; __syncthreads(); out[t] = 1;",
        [1] * 40 + [0] * 24,
    ),
    "doubles": (
        f"out[t] = (int)__shfl_sync({FULL}, t + 0.5, 31 - t) * 2;",
        [2 * (t // 32 * 32 + 31 - t % 32) for t in range(64)],
    ),
    "garbage at first": ("__shared__ float s[64]; out[t] = s[t] != s[t];", [1] * 64),
    "copies in two groups": (
        "__shared__ __align__(16) int s[2][64]; __shared__ int from[1]; const int *g = out;"
        " __pipeline_memcpy_async(&s[0][t], g + t, 4); __pipeline_commit();"
        " __pipeline_memcpy_async(&s[1][t], g + t, 4, 4); __pipeline_commit();"
        " __pipeline_wait_prior(1); from[0] = 0; __syncthreads(); int x = s[0][63 - t] + s[1][t];"
        " __pipeline_wait_prior(0); __syncthreads(); out[t] = x == s[0][t] && !s[1][63 - t];",
        [1] * 64,
    ),
    "atomics": (
        "__shared__ int s; if (t == 0) s = 7; __syncthreads(); atomicAdd(&s, t); __syncthreads();"
        " out[t] = s;",
        [7 + 63 * 32] * 64,
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return Programs(
        {name: body for name, (body, _) in RIGHT.items()}, tmp_path_factory.mktemp("right")
    )


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return Programs(
        {name: body for name, (body, _) in WRONG.items()}, tmp_path_factory.mktemp("wrong")
    )


@pytest.fixture(scope="module")
def races(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return Programs(RACES, tmp_path_factory.mktemp("races"))


@pytest.mark.parametrize("name", RIGHT)
def test_right_programs_give_the_same_in_every_order(name: str, right: Programs) -> None:
    for order in ORDERS:
        assert right.numbers(name, order) == RIGHT[name][1]


@pytest.mark.parametrize("sanitize", ["address", "thread"])
@pytest.mark.parametrize("name", RIGHT)
def test_sanitizers_accept_right_programs(name: str, sanitize: Sanitizer, right: Programs) -> None:
    assert right.numbers(name, "1", sanitize) == RIGHT[name][1]


WRONG = {
    "a barrier that some never reach": (
        "if (t < 8) __syncwarp(0xffff); else __syncthreads();",
        "threads wait for each other for ever: thread 0 at __syncwarp of line 1; thread 8 at"
        " __syncthreads of line 1 in block (0,0,0) of kernel0",
    ),
    "two collectives": (
        f"out[t] = t % 2 ? __shfl_sync({FULL}, t, 0) : __ballot_sync({FULL}, t);",
        "lanes of one warp meet at __ballot_sync of line 2 and __shfl_sync of line 2"
        " in block (0,0,0), thread (1,0,0) of kernel1",
    ),
    "a mask without the caller": (
        "out[t] = __shfl_sync(0xffffu, t, 0);",
        "__shfl_sync of line 3: the mask leaves out the lane that calls it",
    ),
    "a lane that takes no part": (
        "if (t < 16) out[t] = __shfl_sync(0xffffu, t, 20);",
        "a shuffle reads lane 20, which takes no part",
    ),
    "a width": (
        f"out[t] = __shfl_sync({FULL}, t, 0, 12);",
        "__shfl_sync of line 5: the width is no power of two up to 32",
    ),
    "a copy under way": (
        "__shared__ __align__(16) int s[256]; __pipeline_memcpy_async(s + 4 * t, out, 16);",
        "a thread returns with asynchronous copies under way",
    ),
    "a copy of three bytes": (
        "__shared__ __align__(16) int s[256]; __pipeline_memcpy_async(s + 4 * t, out, 3);",
        "an asynchronous copy of 3 bytes: only 4, 8 and 16 are possible",
    ),
    "a copy out of line": (
        "__shared__ __align__(16) int s[256]; __pipeline_memcpy_async(s + t + 1, out, 16);",
        "an asynchronous copy of 16 bytes is not aligned to them",
    ),
    "a copy to memory": (
        "__pipeline_memcpy_async(out + 4 * t, out, 16);",
        "an asynchronous copy writes elsewhere than to shared memory",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_programs_are_found(name: str, wrong: Programs) -> None:
    ran = wrong.run(name)
    assert ran.status == -SIGABRT
    assert f"cuda_on_cpu: {WRONG[name][1]}" in ran.output


def test_two_barriers_are_found(tmp_path: Path) -> None:
    text = (
        "#include <cuda_runtime.h>\n__global__ void k()\n{\nif (threadIdx.x < 32)\n"
        "__syncthreads();\nelse\n__syncthreads();\n}\nint main() { k<<<1, 64>>>(); }\n"
    )
    program = build(text, tmp_path / "program", "program")
    ran = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (
        "threads of one block meet at __syncthreads of line 5 and __syncthreads of line 7"
        in ran.stderr
    )


# Each lacks what keeps a read from a write of another thread.
RACES = {
    "no barrier after the writes": "__shared__ int s[64]; s[t] = t; out[t] = s[63 - t];",
    "no barrier before the next writes": (
        "__shared__ int s[64]; for (int k = 0; k < 2; k++) { s[t] = t + k; __syncthreads();"
        " out[t] += s[(t + 40) % 64]; }"
    ),
    "lanes are not in step": (
        "__shared__ int s[64]; s[t] = t; out[t] = s[t ^ 1];"
    ),
    "a warp's barrier for a block": (
        "__shared__ int s[64]; s[t] = t; __syncwarp(); out[t] = s[t ^ 32];"
    ),
    "a sum without atomics": (
        "__shared__ int s; if (t == 0) s = 0; __syncthreads(); s += t; __syncthreads(); out[t] = s;"
    ),
    "an atomic sum of what is not yet 0": (
        "__shared__ int s; if (t == 0) s = 0; atomicAdd(&s, t); __syncthreads(); out[t] = s;"
    ),
    "an atomic sum for a barrier": (
        "__shared__ int s[64], n; if (t == 0) n = 0; __syncthreads(); s[t] = t; atomicAdd(&n, 1);"
        " out[t] = s[63 - t];"
    ),
}  # fmt: skip
ONLY_SEEN_BY_THE_SANITIZER = {"a sum without atomics"}


@pytest.mark.parametrize("name", sorted(RACES.keys() - ONLY_SEEN_BY_THE_SANITIZER))
def test_races_give_other_results_in_some_order(name: str, races: Programs) -> None:
    assert len({tuple(races.numbers(name, order)) for order in ORDERS}) > 1


@pytest.mark.parametrize("name", RACES)
def test_races_are_found_by_thread_sanitizer(name: str, races: Programs, right: Programs) -> None:
    if right.run("counted barrier", "forward", "thread").status != 0:
        pytest.skip("ThreadSanitizer does not run here")
    ran = races.run(name, "forward", "thread")
    line = list(RACES).index(name) + 1
    assert ran.status == 66
    assert "data race" in ran.output and f"kernel.cu:{line}" in ran.output


OUTSIDE = {
    "static shared": "__shared__ int s[64]; s[t + 1] = t; out[t] = s[t + 1];",
    "dynamic shared": "extern __shared__ int s[]; s[t + 1] = t; out[t] = s[t + 1];",
    "global": "out[t + 1000] = t;",
    "local": "int s[8]; s[t % 8 + (t == 63)] = t; out[t] = s[t % 8];",
    "misaligned": "reinterpret_cast<int4 *>(out + 1)[t] = make_int4(1, 2, 3, 4);",
}


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return Programs(OUTSIDE, tmp_path_factory.mktemp("outside"))


@pytest.mark.parametrize("name", OUTSIDE)
def test_out_of_bounds_is_found(name: str, outside: Programs) -> None:
    ran = outside.run(name, "forward", "address")
    assert ran.status != 0
    assert any(w in ran.output for w in ("AddressSanitizer", "out of bounds", "misaligned"))
