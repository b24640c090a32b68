size N
input A: f32[N]
output B: f32[N]
B[i] = let t = A[i] + 1 in t * t
