size N
input A: f32[N]
output B: f32[N]
for i in N:
    B[i] = A[i]
