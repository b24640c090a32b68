# Broke: sums inside of a loop over columns were refused: the index of an interleaved operand had no strides.
# sizes: M=16 N=32 K=100 target: amx fixed: 0 seed: 0
size M, N, K
input A: u8[M, K]
input B: i8[(K + 3) / 4, N, 4]
output C: i32[M, N]
reduce k in K
acc: i32[i, j] = 0
acc[i, j] += i32(A[i, k]) * i32(B[k / 4, j, k % 4])
C[i, j] = acc[i, j]
schedule s for amx {
    C.tile(i, j, io, jo, ii, ji, 16, 16, tail = exact).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(amx_tile).vectorize(i).vectorize(j)
    acc.update.split(k, ko, ki, 64)
    acc.update.reorder(ko, j, ki, i)
    acc.update.atomic().vectorize(i).vectorize(j).vectorize(ki)
}
