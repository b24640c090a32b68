# --set alpha=1
param alpha: f32 = 0.5
size N
input A: f32[N]
output B: f32[N]
B[i] = alpha * A[i]
