# A triangle of equations: each row waits for those before, its columns for nothing.
size   N, R
input  L: f32[N, N]
input  b: f32[N, R]
output x: f32[N, R]

reduce i in N, k in 0 .. i
z[n, j]  = b[n, j]
z[i, j] -= L[i, k] / 64.0 * z[k, j]
x[n, j]  = z[n, j]

example { N = 37; R = 75; L = random(1, 1, 2); b = random(2) }
