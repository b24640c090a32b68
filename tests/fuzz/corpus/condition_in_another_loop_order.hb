# Broke: with other loops outermost the condition of the last rows was lost among those of the mask.
# sizes: M=20 N=16 K=12 target: amx fixed: 0 seed: 0
size M, N, K
input A: i8[M, K]
input B: i8[K, N]
output C: i32[M, N]
reduce k in K
acc: i32[i, j] = 0
acc[i, j] += i32(A[i, k]) * i32(B[k, j]) where k <= i
C[i, j] = acc[i, j]
schedule s for amx {
    C.tile(i, j, io, jo, ii, ji, 16, 8).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(amx_tile).vectorize(i).vectorize(j)
    acc.update.split(k, ko, ki, 12, tail = exact).reorder(ko, ki, j, i).atomic()
    acc.update.vectorize(i).vectorize(j).vectorize(ki)
}
