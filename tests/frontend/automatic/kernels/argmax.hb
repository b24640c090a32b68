# The greatest value of each row, and where it stands.
size N, K
input  A: f32[N, K]
output best: f32[N]
output at: i32[N]

reduce k in K
(best[i], at[i]) = (lowest, -1)
(best[i], at[i]) = select(A[i, k] > best[i], (A[i, k], i32(k)), (best[i], at[i]))

example { N = 37; K = 300; A = random(1) }
