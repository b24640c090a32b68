size N
input A: f32[N]
input L: bool[N]
output B: i32[N]
output C: bool[N]
output D: i32[N]
B[i] = i32(A[i])
B[i] <<= 2
C[i] = L[i]
C[i] &= true
D[i] = 3
D[i] /= 1
