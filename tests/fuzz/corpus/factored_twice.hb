# Broke: the checker: a Func made by rfactor could not be factored again.
# sizes: W=9 H=6 target: avx2 fixed: 0 seed: 0
size W, H
input A: i32[W, H]
output f: i32[2]
reduce r in W, q in H
f[x] = 0
f[x] += A[r, q]
schedule s for avx2 {
    f.update.rfactor(r, u)
    f_u.compute_root()
    f_u.update.rfactor(q, v)
    f_u_v.compute_root()
    f_u_v.update.vectorize(v, 4)
}
