size M, N, K
input A: f32[M, K]
input B: f32[K, N]
input q: u8[M, N]
output C: f32[M, N]
output s: f32[M]
output h: i32[256]
reduce k in K, y in M, x in N
acc[i, j] = 0
acc[i, j] += A[i, k] * B[k, j]
C[i, j] = acc[i, j]
s[i] = 0
s[i] += A[i, k]
h[v] = 0
h[i64(q[y, x])] += 1
schedule sc for avx2 {
    C.tile(i, j, io, jo, ii, ji, 4, 8).vectorize(ji)
    acc.compute_at(C, jo).vectorize(j, 8).unroll(i)
    s.vectorize(i, 8).parallel(i)
    h.vectorize(v, 8)
}
