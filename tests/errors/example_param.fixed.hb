param a: f32 = 0.5
size N
input A: f32[N]
output B: f32[N]
B[i] = a * A[i]
example { N = 4 }
