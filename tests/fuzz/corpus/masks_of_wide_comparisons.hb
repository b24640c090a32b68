# Broke: neon: a mask of two comparisons, of more lanes than a register has of what they compare.
# sizes: W=1 H=1 target: arm_dot fixed: 0 seed: 0
size W, H
input A: u8[W + 18]
output f3: i32[6, W]
reduce r1 in 3
reduce r2 in H
reduce r3 in 16
reduce r4 in W
reduce r5 in 1
f0[x, y] = i32(0)
f0[x, y] += i32(A[r5 + r5]) * i32(A[max(min(r5, H) - 1, r5) % 3]) where ((y % 3 == 1) or (x % 2 == 0))
f1[i] = u8(0)
f1[i] max= (((A[r4] * 0) - (A[r4 / 2] << u8(f0[clamp(i + -2, 0, W - 1), r4]))) / 16)
f2: i32[i, j, k] = i32(5)
f2[i, j, k] += i32(A[r3 + 2]) * i32(A[r3])
f3: i32[x, y] = i32(0)
f3[x, y] += i32(f1[r1]) * i32(f1[r1 + r1 - 2]) where ((f2[x, y % 4, 3 * r1] > -2) or (x + 1 <= r1))
f3[x, y] &= ((i32(f1[x]) & f0[clamp(x + 0, 0, W - 1), y]) + i32(r2)) where (f0[x / 2, x / 2] != f0[x, y])
schedule s for arm_dot {
    f3.update.atomic().vectorize(r1, 4).vectorize(x, 16)
}
