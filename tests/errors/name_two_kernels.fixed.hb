kernel a {
size N
output B: f32[N]
B[i] = 0
}
kernel b {
size N
input A: f32[N]
output B: f32[N]
B[i] = A[i]
}
