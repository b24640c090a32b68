# How far a sum goes is decided by the column that it is of.
size   H, N
input  A: f32[H, N]
output O: f32[H, N]

reduce k in 0 .. j
O[y, j]  = 0.0
O[y, j] += A[y, k]

example { H = 5; N = 75; A = random(1) }
