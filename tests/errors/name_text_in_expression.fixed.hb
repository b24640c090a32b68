size N
input A: f32[N]
output B: f32[N]
B[i] = A[i]
example { A = file("one.npy") }
