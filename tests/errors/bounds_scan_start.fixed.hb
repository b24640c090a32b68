size N
input A: f32[N]
output B: f32[N]
reduce t in 1 .. N
B[i] = 0
B[t] = B[t - 1] + A[t]
