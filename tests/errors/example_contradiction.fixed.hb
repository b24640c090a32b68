size N, T
input A: f32[N]
input K: f32[T]
output B: f32[N]
require T <= N, "the kernel is wider than the row"
B[i] = A[i] * K[0]
example { N = 5; T = 5 }
