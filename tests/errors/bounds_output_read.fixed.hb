size N
input A: f32[N]
output B: f32[N]
output D: f32[N]
B[i] = A[i]
D[i] = B[min(i + 1, N - 1)]
