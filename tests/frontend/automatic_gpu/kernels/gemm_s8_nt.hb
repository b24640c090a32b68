size   M, N, K
input  A: i8[M, K]
input  B: i8[N, K]
output C: i32[M, N]

reduce k in K
acc[i, j]  = 0
acc[i, j] += i32(A[i, k]) * i32(B[j, k])
C[i, j]    = acc[i, j]

example { M = 150; N = 141; K = 77; A = random(1); B = random(2) }
