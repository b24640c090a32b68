size N
input A: f32[N]
output B: f32[N]
B[i] = let a = A[i] in let b = 2 in a + b
