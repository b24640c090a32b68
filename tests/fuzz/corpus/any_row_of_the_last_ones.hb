# Broke: of the last rows of tiles too much of B was read: `k <= 11` for any row, though these are fewer.
# sizes: M=5 N=8 | M=17 N=11 target: amx fixed: 0 seed: 0
size M, N
input A: u8[M, 64]
input B: i8[M, N]
output C: i32[M, N]
reduce k in 64
acc: i32[i, j] = 0
acc[i, j] += i32(A[i, k]) * i32(B[k, j]) where i - 3 < k and k <= i and i % 7 < 5
C[i, j] = acc[i, j]
schedule s for amx {
    C.tile(i, j, io, jo, ii, ji, 12, 8).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(amx_tile).vectorize(i).vectorize(j)
    acc.update.reorder(i, j, k).atomic().vectorize(i).vectorize(j).vectorize(k)
}
