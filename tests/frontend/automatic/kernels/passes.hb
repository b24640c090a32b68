# Each pass looks for the least above what the pass before found: rows are lanes, whose values lie side by side.
size   M, N
input  A: f32[M, N]
output O: f32[M, 5]
output P: i32[M, 5]
require 5 <= N
reduce k in 1 .. 6, j in N
(v[i, s], at[i, s]) = select(s == 0, (-inf, -1), (inf, i32(N)))
(v[i, k], at[i, k]) = select(A[i, j] > v[i, k - 1] and A[i, j] < v[i, k], (A[i, j], i32(j)), (v[i, k], at[i, k]))
O[i, s]             = v[i, s + 1]
P[i, s]             = at[i, s + 1]

example { M = 37; N = 50; A = random(1, -1, 1) }
