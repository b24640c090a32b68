size   M, N, K
input  A: u8[M, K]
input  B: i8[K, N]
output C: i32[M, N]
reduce k in K
acc[i, j]  = 0
acc[i, j] += i32(A[i, k]) * i32(B[k, j])
C[i, j]    = acc[i, j]
schedule s for cuda {
    C.tile(i, j, io, jo, ii, ji, 16, 16).gpu_blocks(io, jo).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(mma_accumulator).vectorize(i).vectorize(j)
    acc.update.split(k, ko, kv, 32).reorder(ko, i, j, kv).atomic().vectorize(i).vectorize(j).vectorize(kv)
}
