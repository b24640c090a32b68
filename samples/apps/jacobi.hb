# T steps of Jacobi's method for Poisson's equation with u = 0 around the grid: -4 u + its neighbours = b.
import "std/image.hb"

size   H, W
param  T: i32 = 8
input  b: f32[H, W]
input  start: f32[H, W]
output O: f32[H, W]

def step(f)[y, x] = 0.25 * (f[y - 1, x] + f[y + 1, x] + f[y, x - 1] + f[y, x + 1] - b[y, x])

first = zero_edge(start)
u[0][y, x] = first[y, x]
for t in 1 .. T + 1 {
    inside[t][y, x] = zero_outside(u[t - 1], H, W)[y, x]
    u[t] = step(inside[t])
}
O[y, x] = u[T][y, x]

# All steps for strips of rows that stay in the second cache, a row more at either side for each step.
schedule strips for c, avx2, avx512, arm_dot {
    O.split(y, yo, yi, 128).vectorize(x, 16).parallel(yo)
    inside[1 .. T + 1].compute_at(O, yo).vectorize(x, 16)
}

example { H = 512; W = 512; b = random(1, -1, 1); start = constant(0) }
