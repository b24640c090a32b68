size   N, M
input  A: f32[N, M]
input  x: f32[M]
output y: f32[N, M]
y[i, j]   = 2 * A[i, j] + x[j]
example { N = 21; M = 1100; A = random(1); x = random(2) }
