# Broke: a pipelined loop kept vectors of bools, which are masks, in registers: C that does not compile.
# sizes: W=5 | W=1 target: avx2 fixed: 0 seed: 0
size W
input A: bool[W, 8]
output f: f32[W, 8]
f[x, y] = f32(A[x, y])
schedule s for avx2 { f.pipeline(x, 2).vectorize(y) }
