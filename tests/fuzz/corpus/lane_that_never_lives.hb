# Broke: gcc warned of the negative index of a lane that the rest of a loop never has.
# sizes: W=1 | W=9 target: avx2 fixed: 0 seed: 0
size W
input B: f32[W]
output f: f32[W]
g[n] = exp(B[n])
f[x] = 0.0
f[x] = 1.0 where g[W - 1 - x] >= 3.25
schedule s for avx2 {
    f.update.vectorize(x, 8)
    g.in(f).compute_at(f.update, x).store_in(heap)
}
