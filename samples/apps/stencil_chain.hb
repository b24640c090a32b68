# N stencils of 5 x 5 pixels one after the other, in 16 bits, which wrap; weights are products of 1 .. 5.
size   H, W
param  N: i32 = 8
input  A: u16[H + 4 * N, W + 4 * N]
output O: u16[H, W]

def five_x(f)[y, x] = f[y, x - 2] + 2 * f[y, x - 1] + 3 * f[y, x] + 4 * f[y, x + 1] + 5 * f[y, x + 2]
def five_y(f)[y, x] = f[y - 2, x] + 2 * f[y - 1, x] + 3 * f[y, x] + 4 * f[y + 1, x] + 5 * f[y + 2, x]

s[0][y, x] = A[y + 2 * N, x + 2 * N]
for n in 1 .. N + 1 { s[n] = five_y(five_x(s[n - 1])) }
O[y, x] = s[N][y, x]

schedule strips for c, avx2, avx512, arm_dot {
    O.tile(y, x, yo, xo, yi, xi, 512, 512, tail = guard).vectorize(xi, 32).parallel(yo)
    s[1 .. N].store_at(O, xo).compute_at(O, yi).vectorize(x, 32)
}

example { W = 1408; H = 2432; A = random(1) }
