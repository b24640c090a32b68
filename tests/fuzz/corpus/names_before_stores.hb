# Broke: vectors read what a store before had changed, where a name stands for what was there.
# sizes: N=13 R=7 | N=37 R=1 target: avx512 fixed: 0 seed: 1
size N, R
input A: f32[R, N]
output p: f32[N]
output q: f32[N]
reduce r in R
(p[x], q[x]) = (1, 0)
(p[x], q[x]) = (p[x] * A[r, x] - q[x], q[x] * A[r, x] + p[x]) where A[r, x] > 0
schedule s for avx512 {
    q.vectorize(x, 8)
    p.update.split(x, xo, xi, 16).reorder(xo, r, xi).vectorize(xi)
}
