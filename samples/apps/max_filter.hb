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

# Blocks of columns in registers while all rows, or columns, of the square pass by.
schedule rows for c, avx2, avx512, arm_dot {
    O.split(x, xo, xi, 320, tail = shift).vectorize(xi, 64).unroll(xi).parallel(y)
    O_max.compute_at(O, xo).store_in(registers).vectorize(x, 64).unroll(x)
    O_max.update.reorder(y, r, x).vectorize(x, 64).unroll(x)
    down.compute_at(O, y).split(x, xo, xi, 320).vectorize(xi, 64).unroll(xi)
    down_max.compute_at(down, xo).store_in(registers).vectorize(x, 64).unroll(x)
    down_max.update.reorder(y, r, x).vectorize(x, 64).unroll(x)
}

example { W = 1920; H = 1080; A = random(1) }
