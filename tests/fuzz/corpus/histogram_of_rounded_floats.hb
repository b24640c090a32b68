# Broke: counts at places that floats say were held to be exact, though rounding decides the place.
# sizes: N=600 | N=33 target: avx512 fixed: 0 seed: 2
size N
input I: u8[N, 3]
output O: u8[N]
output h: i32[256]
reduce r in N
reduce b in 1 .. 256
g[x] = u8(0.7 * f32(I[x, 0]) + 0.1 * f32(I[x, 1]) + 0.2 * f32(I[x, 2]))
h[v] = 0
h[g[r]] += 1
c[v] = h[v]
c[b] = c[b - 1] + h[b]
O[x] = u8(f32(c[g[x]]) * (255.0 / f32(N)))
schedule s for avx512 {
    g.compute_root().vectorize(x, 16)
    h.compute_root()
    c.compute_root()
}
