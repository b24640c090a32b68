# The greatest value within a square of 2 R + 1 pixels, the border repeated: columns first, then rows.
size   H, W
param  R: i32 = 3
input  A: u8[H, W]
output O: u8[H, W]

edge = clamp_edge(A)
P[y, x] = edge[y, x]

reduce r in 2 * R + 1
down[y, x] = max(r: P[y + r - R, x])
O[y, x]    = max(r: down[y, x + r - R])

schedule rows for c, avx2, avx512, arm_dot {
    O.split(y, yo, yi, 32, tail = guard).vectorize(x, 32).parallel(yo)
    O_max.compute_at(O, yi).vectorize(x, 32)
    O_max.update(0).reorder(r, x).vectorize(x, 32)
    P.compute_at(O, yo).vectorize(x, 32)
    down.compute_at(O, yi).vectorize(x, 32)
    down_max.compute_at(O, yi).vectorize(x, 32)
    down_max.update(0).reorder(r, x).vectorize(x, 32)
}

example { W = 1920; H = 1080; A = random(1) }
