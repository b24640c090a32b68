# Broke: rfactor: the identity of `^=` of bools was the number 0.
# sizes: W=9 target: avx2 fixed: 0 seed: 0
size W
input A: bool[W, W]
output f: bool[W]
reduce r in W
f[x] = false
f[x] ^= A[x, r]
schedule s for avx2 { f.update.split(r, a, b, 4).rfactor(b, u) }
