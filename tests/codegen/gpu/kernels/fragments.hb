# A small matrix product on tensor cores, two warps in a block, with tails.
size   M, N, K
input  A: f16[M, K]
input  B: f16[K, N]
output C: f32[M, N]

reduce k in K
acc[i, j]  = 0
acc[i, j] += f32(A[i, k]) * f32(B[k, j])
C[i, j]    = acc[i, j]

schedule staged for cuda {
    C.tile(i, j, io, jo, ii, jv, 32, 16, tail = guard).split(ii, iw, iv, 16)
    C.gpu_blocks(io, jo).gpu_threads(iw).reorder(io, jo, iw, iv, jv).vectorize(iv).vectorize(jv)
    acc.compute_at(C, jo).store_in(wmma_accumulator)
    acc.split(i, iw, iv, 16).gpu_threads(iw).vectorize(iv).vectorize(j)
    acc.update.split(k, ko, kv, 16).split(i, iw, iv, 16).reorder(ko, iw, iv, j, kv)
    acc.update.gpu_threads(iw).atomic().vectorize(iv).vectorize(j).vectorize(kv)
    A.in(acc).compute_at(acc.update, ko).store_in(shared).vectorize(k, 8)
    B.in(acc).compute_at(acc.update, ko).store_in(shared).vectorize(j, 8)
}

# The same with shared memory of each warp for its own rows and columns: no warp waits for the other.
schedule per_warp for cuda {
    C.tile(i, j, io, jo, ii, jv, 32, 16, tail = guard).split(ii, iw, iv, 16)
    C.gpu_blocks(io, jo).gpu_threads(iw).reorder(io, jo, iw, iv, jv).vectorize(iv).vectorize(jv)
    acc.compute_at(C, iw).store_in(wmma_accumulator)
    acc.vectorize(i, 16).vectorize(j, 16)
    acc.update.split(k, ko, kv, 16).reorder(ko, i, j, kv).atomic()
    acc.update.vectorize(i, 16).vectorize(j, 16).vectorize(kv)
    A.in(acc).compute_at(acc.update, ko).store_in(shared).pad_storage(k, 24)
    B.in(acc).compute_at(acc.update, ko).store_in(shared).vectorize(j, 8)
}
