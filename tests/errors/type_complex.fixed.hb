import "std/complex.hb"
size N
input A: f32[N, 2]
output O: f32[N]
output P: f32[N]
(O[x], P[x]) = cmul((A[x, 0], A[x, 1]), (A[x, 0], A[x, 1]))
