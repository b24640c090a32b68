# Broke: lowering, KeyError: a Func computed at a loop that only a specialized copy has.
# sizes: H=16 target: avx2 fixed: 0 seed: 0
# refused: only in some of its specialized copies
size H
input A: u8[H]
output f: u8[H]
g[i] = A[i]
f[x] = g[x]
schedule s for avx2 {
    f.specialize(H >= 8).split(x, a, b, 16)
    g.compute_at(f, a)
}
