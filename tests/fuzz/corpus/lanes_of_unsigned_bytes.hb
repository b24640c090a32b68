# Broke: some lanes of unsigned bytes that count up were a ramp of signed ones, times a number that was not.
# sizes: W=1 target: avx512vnni fixed: 0 seed: 0
size   W
input  A: i4[35, W + 2, W + 1]
output f2: i32[W]
PA = mirror(A)
reduce r1 in 32
reduce r2 in 3
f0[x]      = i32(0)
f0[x]     += i32(A[r2, clamp(let q3 = A[r2, x + 3, x + 1] in i64(q3), 0, 1), W - 2 - x]) * i32(PA[r2 % 2, x, x])
f2: i32[x] = f0[x - 1]
f2[x]     += i32(PA[r1, 0, clamp(x + 0, 0, W - 1)]) * i32(A[r1 + 3, W - 1 - x, x])
schedule s for avx512vnni {
    f2.update.atomic().vectorize(r1, 8, tail = guard).vectorize(x, 8, tail = guard)
    A.in(f2).compute_inline()
    f0.split(x, xo1, xi2, 5, tail = shift).unroll(xi2, 4, tail = guard)
    f0.update.atomic().vectorize(r2, 4).vectorize(x, 16)
}
