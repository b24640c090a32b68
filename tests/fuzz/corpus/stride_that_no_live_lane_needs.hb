# Broke: a stride that dead lanes alone would need was a parameter that nothing used.
# sizes: W=1 target: avx512vnni fixed: 0 seed: 0
size W
input A: u8[1, 1, W]
input B: i16[1, 1]
output f1: i32[W, W, W]
param Q: i32 = 3
PB = wrap(B)
reduce r1 in 1
f1[n, c, w] = i32(0)
f1[n, c, w] += i32(PB[r1, 2]) * i32(A[r1, r1, W - 1 - c])
schedule s for avx512vnni {
    f1.split(c, co1, ci2, 2, tail = guard)
    f1.update.atomic().vectorize(r1, 4).vectorize(n, 16)
}
