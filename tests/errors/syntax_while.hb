size N
input A: f32[N]
output B: f32[N]
while i < 3
B[i] = A[i]
