size N
input A: f32[N]
output B: f32[N]
reduce r in N, s in N
B[i] = A[i]
B[i] += A[r] * A[s]
