size N
input A: f32[N, 1024]
output f: f32[1024]
reduce r in N
f[x] = 0.0
f[x] += A[r, x]
schedule s for avx512 {
    f.update.vectorize(x, 16).atomic().vectorize(r, 8).unroll(r, 2)
}
