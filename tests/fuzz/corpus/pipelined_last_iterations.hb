# Broke: the last iterations of a pipelined loop compared `H - 1 < H - 1`, of which gcc warns.
# sizes: H=1 | H=5 target: avx2 fixed: 0 seed: 0
size H
input A: i32[H, H]
output f: i32[H, H]
PA = zero_edge(A)
f[x, y] = PA[x, y + 1] / 7
schedule s for avx2 {
    f.pipeline(y, 3)
}
