# Weights of 4 bits, unpacked to bytes, by a vector of bytes.
size   M, K
input  A: i4[M, K]
input  x: i8[K]
output y: i32[M]

reduce k in K
w[i, k] = i8(A[i, k])
y[i]    = 0
y[i]   += i32(w[i, k]) * i32(x[k])

example { M = 37; K = 1003; A = random(1); x = random(2) }
