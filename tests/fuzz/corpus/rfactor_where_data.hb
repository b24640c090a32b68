# Broke: a piece of partial results that is cut off asked the data of a condition first, beyond the end of the array.
# sizes: N=13 R=13 | N=2 R=61 target: avx512 fixed: 0 seed: 1
size N, R
input A: f32[N, R]
output f: f32[N]
reduce r in R
f[x] = 0
f[x] += A[x, r] where A[x, r] > 0
schedule s for avx512 {
    f.update.split(r, ro, ri, 16).rfactor(ri, v)
    f_v.compute_at(f.update, x).vectorize(v)
    f_v.update.reorder(ro, v).vectorize(v)
}
