# Broke: gcc warned of the C variable of an element of memory in registers that nothing reads.
# sizes: H=1 | H=3 target: avx512 fixed: 0 seed: 0
size H
input B: f32[3, 2]
output f: f32[H, 1]
reduce r in 5
reduce q in 1 .. 2
g[i, j] = f32(j)
g[i, q] = B[i + 2, q] - g[i, q - 1]
f[x, y] = f32(0)
f[x, y] += B[0, 0] where mirror(B)[x, y] < g[0, y]
schedule s for avx512 {
    g.compute_at(f.update, y)
}
