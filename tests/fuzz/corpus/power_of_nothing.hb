# Broke: an update ran over `r3` once, since `x ** 0` was 1 before the loops were those of what is left.
# sizes: W=8 target: avx512vbmi fixed: 0 seed: 0
size W
input A: f32[2 * W + 5, 2 * W, 2 * W + 3]
output f2: u8[W, W]
def d4(k) = (min(u8(1), 3) + k)
reduce r1 in 5
reduce r2 in W
reduce r3 in W
reduce r6 in 4
reduce r7 in 4
f0[n, c, w] = product(q9 in 1 .. 4: f32(3.25))
f0[n, c, w] = max(f0[n, c, w], f32(0.1)) while r7: f0[n, c, w] > product(q8 in 1 .. 5: f32(inf))
f1: f32[n, c, w] = f0[n, c, w / 2]
f1[n, c, w] += (sqrt(A[n + c + 1, 2 * w, w + 3]) + f32(r6))
f2[x, y] = u8(0)
f2[x, y] &= u8(f0[x, 3 * y, (2 * r1 + W) / 3 % 5])
f2[x, y] += d4((select((u8(A[(let q5 = i64(abs(A[x, y, r3]) + 0.5) in clamp(q5, 0, 4)), y, r3 + x]) > u8(f1[x - 1, y, r3])), u8(f0[W - 1 - x, y, r3]), u8(7)) ** 0))
schedule s for avx512vbmi {
    f2.pipeline(y, 4).split(x, xo1, xi2, 8, tail = exact).vectorize(xi2, 4).split(xo1, xo3, xi4, 2)
}
