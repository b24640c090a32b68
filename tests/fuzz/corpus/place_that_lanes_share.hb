# Broke: what all lanes share was read and stored, too, where the condition holds in no lane.
# sizes: H=3 L=5 | H=4 L=1 | H=40 L=7 target: avx512 fixed: 0 seed: 0
size H, L
input A: i32[H]
output f: i32[H]
output g: i32[H]
reduce r in 8
f[x] = 0
f[L] += i32(r) * 3 where r < H - L
g[x] = 0
g[x] += A[L] where x < H - L
schedule s for avx512 {
    f.update.atomic().vectorize(r)
    g.update.vectorize(x, 8, tail = mask)
}
