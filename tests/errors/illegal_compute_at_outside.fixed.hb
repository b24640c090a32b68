size N
input A: f32[N]
output B: f32[N]
output C: f32[N]
f[i] = A[i] * 2
B[i] = f[i]
C[i] = f[i]
schedule s for avx512 {
    f.compute_root()
}
