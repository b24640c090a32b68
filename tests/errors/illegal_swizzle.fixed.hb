size N
input  A: f32[N, N]
output B: f32[N, N]
B[i, j] = A[j, i]

schedule s for avx2 { A.in(B).compute_root().pad_storage(i, 16) }
