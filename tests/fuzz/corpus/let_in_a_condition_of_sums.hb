# Broke: a let in the condition of sums on vectors, while it is said why no instruction does them.
# sizes: H=1 K=1 target: avxvnni fixed: 0 seed: 0
size H, K
input A: i16[H + 3, H + 8, 16]
input B: i16[3 * H + 5, 4]
output f1: i32[H, H, 8]
reduce r1 in 16
reduce r2 in 4
f0: i32[x, y] = i32(0)
f0[x, y] += i32(A[x + r2 + 2, y % 2, r2]) * i32(A[x + 2, select(y < K, y % 5, 4), r2 / 3]) where (let t3 = i32(B[x % 5, y / 2]) in t3 < i32(B[3 * x + 6, r2]))
f1[x, y, z] = (f0[x - 2, 2] % 3)
f1[x, y, z] += i32(A[x, z, r1]) * i32(A[y, y, r1 / 3])
schedule s for avxvnni {
    f1.fuse(y, z, fu1).split(fu1, fo2, fi3, 5, tail = shift).vectorize(fi3)
    f1.update.atomic().vectorize(r1).vectorize(z, 32, tail = mask)
    f0.compute_at(f1, fo2)
    f0.split(y, yo4, yi5, 8).split(yi5, yo6, yi7, 5, tail = guard).vectorize(yi7, 4)
    f0.update.atomic().vectorize(r2, 3, tail = mask).vectorize(y, 16)
}
