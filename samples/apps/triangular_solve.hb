# x with L x = b, for several right-hand sides, L lower triangular: forward substitution. What is kept of each row
# is z = L[i, i] x, so that one scan does it.
size   N, R
input  L: f32[N, N]
input  b: f32[N, R]
output x: f32[N, R]

reduce i in N, k in 0 .. i
z[n, j]  = b[n, j]
z[i, j] -= L[i, k] / L[k, k] * z[k, j]
x[n, j]  = z[n, j] / L[n, n]

schedule columns for c, avx2, avx512, arm_dot {
    x.vectorize(j, 16)
    z.vectorize(j, 16)
    z.update.split(j, jo, ji, 64).reorder(jo, i, k, ji).split(ji, jm, jv, 16).vectorize(jv).unroll(jm).parallel(jo)
}

example { N = 256; R = 64; L = random(1, 1, 2); b = random(2) }
