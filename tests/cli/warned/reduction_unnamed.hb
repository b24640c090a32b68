# Ten steps, so it seems: the update names no `t`, and is done once.
size   N
input  A: f32[N]
output B: f32[N]
reduce t in 10
B[i] = A[i]
B[i] = B[i] / 2 + 1
