size N
inptu A: f32[N]
output B: f32[N]
B[i] = A[i]
