size N
input A: f32[N]
output B: f32[N]
# a comment of C
B[i] = A[i]
