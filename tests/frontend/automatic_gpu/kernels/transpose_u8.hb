size   N, M
input  A: u8[N, M]
output T: u8[M, N]
T[j, i] = 255 - A[i, j]
example { N = 65; M = 170; A = random(1) }
