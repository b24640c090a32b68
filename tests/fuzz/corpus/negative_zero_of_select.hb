# Broke: a value that a condition leaves at -0.0 came out as 0.0 on AVX-512, where 1 / it is -infinity.
# sizes: N=61 target: avx512 fixed: 0 seed: 0
size N
input A: f32[N]
output C: f32[N]
f[i] = select(A[i] > 0.25, A[i], -0.0)
C[i] = 1.0 / f[i]
schedule s for avx512 {
  C.split(i, io, ii, 16).vectorize(ii)
}
