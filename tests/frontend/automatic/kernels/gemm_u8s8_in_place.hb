# A product of bytes whose output is summed up in place: instructions want the sums elsewhere.
size   M, N, K
input  A: u8[M, K]
input  B: i8[K, N]
output C: i32[M, N]

reduce k in K
C[i, j]  = 0
C[i, j] += i32(A[i, k]) * i32(B[k, j])

example { M = 512; N = 512; K = 512; A = random(1, 0, 255); B = random(2, -128, 127) }
