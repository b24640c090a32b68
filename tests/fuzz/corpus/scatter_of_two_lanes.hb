# Broke: avx512: a scatter of two lanes wrote four.
# sizes: W=8 K=7 | W=0 K=0 target: avx512vnni fixed: 0 seed: 0
size W, K
input A: i16[K]
input B: i16[K + 2, 2 * K + W + 6]
output f0: i32[K, 6]
reduce r1 in 2
f0[x, y] = (select((x >= 2), i32(A[x]), i32(B[x, 2 * x])) | -1)
f0[x, y] += i32(B[x, clamp(x + -1, 0, W - 1)]) * i32(B[1, y]) * i32(r1)
schedule s for avx512vnni {
    f0.update.atomic().vectorize(r1).vectorize(x, 4, tail = mask)
}
