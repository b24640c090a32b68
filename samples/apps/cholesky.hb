# L with L L^T = A + ridge I for many small symmetric matrices, a lane each. What is kept is z[i, j] = L[i, j] L[j, j], so
# that one scan does it.
size   B
param  N: i32 = 8
input  A: f32[N, N, B]
input  ridge: f32
output L: f32[N, N, B]

reduce j in N, i in j .. N, k in 0 .. j
z[r, c, b]    = A[r, c, b] + select(r == c, ridge, 0)
z[i, j, b]   -= z[i, k, b] * (z[j, k, b] / z[k, k, b])
inverse[c, b] = rsqrt(z[c, c, b])
L[r, c, b]    = select(c <= r, z[r, c, b] * inverse[c, b], 0)

schedule lanes for c, avx2, avx512, arm_dot {
    L.split(b, bo, bi, 16).reorder(bo, r, c, bi).vectorize(bi).parallel(bo).unroll(r).unroll(c)
    inverse.compute_at(L, bo).vectorize(b, 16)
    z.compute_at(L, bo).store_in(stack).vectorize(b, 16).unroll(r).unroll(c)
    z.update.vectorize(b, 16).unroll(j).unroll(i).unroll(k)
}

example { B = 4096; A = random(1, -0.5, 0.5); ridge = 8 }
