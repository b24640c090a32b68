size N
input A: f32[N]
output B: f32[N]
B[i] = f32(i32(A[i] > 0) + 1)
