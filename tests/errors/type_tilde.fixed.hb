size N
input A: f32[N]
output B: f32[N]
f[i] = not (A[i] > 0)
B[i] = f32(~i32(A[i]))
