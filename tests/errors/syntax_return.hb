size N
input A: f32[N]
output B: f32[N]
return x
B[i] = A[i]
