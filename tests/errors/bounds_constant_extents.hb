input A: f32[16]
output B: f32[32]
B[i] = A[i]
