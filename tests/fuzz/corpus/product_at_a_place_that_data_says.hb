# Broke: an internal error where the place of a factor is read from data, in the check beside the instruction.
# sizes: W=1 H=1 target: avx512vnni fixed: 0 seed: 0
size W, H
input A: u8[H + 19, H, 3 * H + 3]
output f2: i32[H, H]
table T: u8[4, 3] [u, v] = u8(u * 3 + v)
reduce r1 in 2
reduce r2 in 16
reduce r3 in W
f0[n] = ((i32(-3) % i32(10)) * max(i32(4), i32(T[n % 4, clamp(n, 0, 2)])))
f0[n] += i32(T[r3 % 4, clamp(n, 0, 2)]) * i32(T[clamp(n, 0, 3), clamp(n, 0, 2)])
f2: i32[x, y] = i32(10)
f2[x, y] += i32(T[y % 4, r1]) * i32(T[r1, r1]) where (i32(A[x, H - 1 - y, clamp(i64(f0[x]), 0, 2)]) == f0[x])
f2[x, y] += i32(A[(2 * r2 + r2) / 3 % 3, y, 3 * x]) * i32(A[r2 + 3, y, x])
schedule s for avx512vnni {
    f2.update.atomic().vectorize(r1).vectorize(y, 4, tail = guard).reorder(x, y, y_v, r1)
}
