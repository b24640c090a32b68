size   N
input  A: f32[N]
output B: f32[N] aliases A
B[i] = 2 * A[i]
schedule s for avx2 { B.split(i, io, ii, 8).vectorize(ii) }
