size N
input A: f32[N]
output B: f32[N]
B[i] = select(-i32(A[i] > 0) != 0, 1, 2)
