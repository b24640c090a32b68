# Heat in a box whose faces let none out: T steps in time, each by the six neighbours of a cell.
size   D, H, W
param  T: i32 = 4
input  A: f32[D, H, W]
input  rate: f32
output O: f32[D, H, W]

def edged(f, D, H, W)[z, y, x] = f[clamp(z, 0, D - 1), clamp(y, 0, H - 1), clamp(x, 0, W - 1)]
def next(f)[z, y, x]           = f[z, y, x] + rate * (f[z - 1, y, x] + f[z + 1, y, x] + f[z, y - 1, x] + f[z, y + 1, x]
    + f[z, y, x - 1] + f[z, y, x + 1] - 6 * f[z, y, x])

wide = clamp_edge(A)
u[0][z, y, x] = wide[z, y, x]
for t in 1 .. T + 1 {
    inside[t][z, y, x] = edged(u[t - 1], D, H, W)[z, y, x]
    u[t] = next(inside[t])
}
O[z, y, x] = u[T][z, y, x]

schedule planes for c, avx2, avx512, arm_dot {
    O.vectorize(x, 16).parallel(z)
    u[1 .. T].compute_root().vectorize(x, 16).parallel(z)
}

example { D = 64; H = 96; W = 128; A = random(1); rate = 0.1 }
