# Broke: gcc warned of a prefetch beyond the end of an array on the stack.
# sizes: W=1 target: avx512vnni fixed: 0 seed: 0
size W
input A: i8[W + 8, 5]
output f2: u8[4, W, 4]
param Q: i32 = 5
reduce r1 in 8
reduce r2 in 3
f0[x, y] = i32(0)
f0[x, y] += i32(A[r2 % 2, 2 * y]) * i32(A[clamp(r2 + 0, 0, W - 1), 2 - x])
f1[x] = f0[x, x]
f1[x] += i32(A[r1, x]) * i32(A[r1, x])
f2: u8[x, y, z] = (u8(f1[x % 3]) / 2)
schedule s for avx512vnni {
    f1.compute_at(f2, y)
    f1.vectorize(x, 8)
    f1.update.atomic().vectorize(r1, 2, tail = mask).vectorize(x, 32, tail = mask)
    f0.in(f1).compute_root()
    f0.in(f1).split(y, yo1, yi2, 7).prefetch(f0, yi2, 2, L3)
    f0.unroll(x, 2).split(x, xo3, xi4, 2)
}
