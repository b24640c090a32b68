size N
input A: f32[N]
output B: i32[N]
B[i] = 0
B[i] |= i32(A[i])
