# A matrix of bytes by a vector.
size   M, K
input  A: u8[M, K]
input  x: i8[K]
output y: i32[M]

reduce k in K
y[i]  = 0
y[i] += i32(A[i, k]) * i32(x[k])

example { M = 37; K = 1003; A = random(1); x = random(2) }
