size N
input A: i32[N]
output B: i32[N]
B[i] = i32(f32(A[i]) * 0.5)
