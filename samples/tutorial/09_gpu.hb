# 9. A GPU: loops become blocks and threads.
#
# `tile` cuts y and x as ever; each tile is then a block, each element of it a thread. What is computed at the
# block is shared by its threads: `rows` here, in shared memory, with the barrier that it needs. Nothing else changes:
# the algorithm, the oracle and the commands are the same.
#
#     hbc compile 09_gpu.hb --target cuda -o build      # CUDA C++, to read
#     hbc verify 09_gpu.hb --target cuda                # on the GPU
#     hbc verify 09_gpu.hb --target cuda --on-cpu       # without one: the same code, run by the processor
#
# The last needs no CUDA: it finds wrong schedules, not slow ones. docs/cuda.md has tensor cores, copies and reports
# of shared memory; docs/cuda_on_cpu.md says what is checked without a GPU.

size   H, W
input  I: f32[H, W]
output O: f32[H, W]

P = clamp_edge(I)
rows[y, x] = (P[y, x - 1] + 2 * P[y, x] + P[y, x + 1]) / 4
O[y, x]    = (rows[y - 1, x] + 2 * rows[y, x] + rows[y + 1, x]) / 4

schedule blocks for cuda {
    O.tile(y, x, yo, xo, yi, xi, 8, 32).gpu_blocks(yo, xo).gpu_threads(yi, xi)
    rows.compute_at(O, xo).store_in(shared).gpu_threads(y, x)
}

example { H = 1024; W = 1024; I = random(1, 0, 1) }
