size N
input A: i32[N]
output B: f32[N]
B[i] = sqrt(f32(A[i]))
