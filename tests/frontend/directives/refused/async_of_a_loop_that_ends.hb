size   W, T
input  I: f32[T, W]
output n: f32[W]

reduce t in T
f[s, x]  = I[s, x] * 2.0
n[x]     = 0.0
n[x]    += f[t, x] while t: n[x] < 3.0

schedule s for c, avx2, avx512 {
    n.update.reorder(t, x)
    f.compute_at(n.update, t).async()
}
