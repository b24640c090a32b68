size N
input A: f32[N]
output B: f64[N]
B: f64[i] = A[i]
