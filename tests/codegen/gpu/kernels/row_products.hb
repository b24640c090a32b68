# Rows of 16 groups of 16 pixels by one small matrix, a row or two to a warp: where there are fewer rows
# than warps have, fragments have no value, and nothing may be made of them.
size   H, G
input  I: f16[H, 16 * G]
input  Q: f16[16, 16]
input  bias: f32[16]
output O: f16[H, G, 16]

reduce k in 16
t[y, g, u]  = bias[u]
t[y, g, u] += f32(I[y, 16 * g + k]) * f32(Q[k, u])
O[y, g, u]  = f16(max(t[y, g, u], 0))

schedule a_row_each for cuda {
    O.tile(y, g, yo, go, yi, gi, 4, 16).reorder(yo, go, yi, gi, u).gpu_blocks(yo, go).gpu_threads(yi)
    O.vectorize(gi).vectorize(u)
    t.compute_at(O, go).store_in(wmma_accumulator).gpu_threads(y).vectorize(g).vectorize(u)
    t.update.atomic().gpu_threads(y).vectorize(g).vectorize(u).vectorize(k)
}

schedule two_rows_each for cuda {
    O.tile(y, g, yo, go, yi, gi, 8, 16).split(yi, yw, yv, 2).reorder(yo, go, yw, yv, gi, u)
    O.gpu_blocks(yo, go).gpu_threads(yw).unroll(yv).vectorize(gi).vectorize(u)
    t.compute_at(O, go).store_in(wmma_accumulator).split(y, yw, yv, 2)
    t.gpu_threads(yw).unroll(yv).vectorize(g).vectorize(u)
    t.update.split(y, yw, yv, 2).reorder(yw, yv, g, u, k).gpu_threads(yw).unroll(yv)
    t.update.atomic().vectorize(g).vectorize(u).vectorize(k)
}
