# A matrix of signed bytes by a vector of them.
size   M, K
input  A: i8[M, K]
input  x: i8[K]
output y: i32[M]

reduce k in K
y[i]  = 0
y[i] += i32(A[i, k]) * i32(x[k])

example { M = 37; K = 1003; A = random(1); x = random(2) }
