# Broke: a sum under three conditions, of which lanes share the first, was read from fragments that were not begun.
# sizes: M=32 N=32 K=32 target: cuda fixed: 0 seed: 0
size M, N, K
input A: u8[M, K]
input B: u8[K, N]
input bias: i32[N]
output C: i32[M, N]
reduce k in K
acc: i32[i, j] = 0
acc[i, j] += i32(A[i, k]) * i32(B[k, j]) where i - 3 < k and k <= i
C[i, j] = acc[i, j] + bias[j]
schedule s for cuda {
    C.tile(i, j, io, jo, ii, ji, 8, 64)
    C.tile(ii, ji, iw, jw, iv, jv, 8, 32).gpu_blocks(io, jo).gpu_threads(iw, jw)
    C.vectorize(iv).vectorize(jv)
    acc.compute_at(C, jo).store_in(wmma_accumulator)
    acc.tile(i, j, iw, jw, iv, jv, 8, 32).gpu_threads(iw, jw).vectorize(iv).vectorize(jv)
    acc.update.split(k, ko, kv, 16).tile(i, j, iw, jw, iv, jv, 8, 32).reorder(ko, iw, jw, iv, jv, kv)
    acc.update.gpu_threads(iw, jw).atomic().vectorize(iv).vectorize(jv).vectorize(kv)
}
