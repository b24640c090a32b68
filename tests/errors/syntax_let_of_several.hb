size N
input A: f32[N]
output B: f32[N]
B[i] = let a = A[i], b = 2 in a + b
