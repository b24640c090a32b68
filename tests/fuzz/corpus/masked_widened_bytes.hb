# Broke: gcc 12 joined a load of four bytes, their widening and a mask, and could not compile that.
# sizes: W=1 target: avx512vnni fixed: 0 seed: 0
size W
input A: u8[2 * W + 8, W + 7]
output f3: i32[W, W, 7]
table T: i32[1] = [1]
reduce r1 in 4
reduce r3 in W
reduce r4 in W
f1[x, y] = (clamp((T[0] >> T[0]), 9, clamp(T[0], 1, T[0])) - 2)
f1[x, y] ^= ((T[0] + 0) + i32(r3)) where ((x % 3 == 0) and (T[0] <= T[0]))
f2[n, c] = f1[clamp(i64(A[n + 1, c + 2]), 0, W - 1), clamp(i64(f1[n, c]), 0, W - 1)]
f3[x, y, z] = (min((let t2 = f2[x - 1, z - 2] in (t2 + t2)), select((z + 1 <= W), i32(A[y + y, z]), u8(7))) % f2[z, y])
f3[x, y, z] += i32(A[r1 + 1, y / 3]) * i32(A[y + r1 + 3, 2])
schedule s for avx512vnni {
    f3.vectorize(z, 16)
}
