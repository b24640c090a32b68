# Broke: no vector was made of positions that stand twice each.
# sizes: W=1 H=1 K=1 target: avx512bf16 fixed: 0 seed: 0
size W, H, K
input A: i32[W + 4, W + 3]
input B: i32[W]
output f3: i32[W, W]
output f0: i32[W + 4, W + 3, W + 4]
reduce r1 in 5
reduce r5 in H
f0: i32[n, c, w] = i32(0)
f0[n, c, w] += ((let q6 = n in (let q7 = r5 in wrap(A)[clamp(i64(A[n, c]), 0, K - 1), q7])) * i32(10))
f1[x] = (let q3 = clamp(i64(B[x]), 0, K - 1) in (let q4 = x in i32(x)))
f2[x] = i32(0)
f2[x] = f2[x] + ((let q2 = x in f0[x % 2, x, x]) * max(i32(10), f0[x, x + 3, x]))
f3[x, y] = i32(0)
f3[x, y] ^= (f0[r1 + x, y / 2, clamp(i64(f2[x]), 0, 3)] / f1[x])
schedule s for avx512bf16 {
    f3.tile(x, y, ao1, bo3, ai2, bi4, 8, 8)
    f3.update.atomic().vectorize(r1, 2, tail = guard).vectorize(y, 8).split(x, xo5, xi6, 2).split(xo5, xo7, xi8, 2).split(xo7, xo9, xi10, 2)
}
