size   B, N, M
input  A: f32[B, N, M]
output T: f32[B, M, N]
T[b, j, i] = A[b, i, j]
example { B = 2; N = 65; M = 70; A = random(1) }
