# Broke: gcc takes `(uint8_t)(255 - x)` for `~x`, which it warns of where it is compared.
# sizes: W=1 | W=33 target: avx2 fixed: 0 seed: 0
size W
input A: u8[W]
output f0: u8[W]
reduce r1 in 6
f0[x] = A[x]
f0[x] = f0[x] + u8(0) while r1: f0[x] < (u8(255) - A[x])
