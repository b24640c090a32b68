# A matrix by a vector.
size   M, K
input  A: f32[M, K]
input  x: f32[K]
output y: f32[M]

reduce k in K
acc[i]  = 0
acc[i] += A[i, k] * x[k]
y[i]    = acc[i]

example { M = 1024; K = 1024; A = random(1, -1, 1); x = random(2, -1, 1) }
