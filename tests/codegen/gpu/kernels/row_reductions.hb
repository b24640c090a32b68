# The softmax of 32 numbers that are products: rows of fragments are reduced by the lanes that have them.
size   M, K
input  A: f16[M, K]
input  B: f16[K, 32]
output P: f32[M, 32]

reduce k in K, u in 32, v in 32
score[i, j]  = 0
score[i, j] += f32(A[i, k]) * f32(B[k, j])
top[i]       = -inf
top[i]    max= score[i, u]
sum[i]       = 0
sum[i]      += exp(score[i, v] - top[i])
P[i, j]      = exp(score[i, j] - top[i]) / sum[i]

schedule rows for cuda {
    P.split(i, io, ii, 32).split(ii, iw, iv, 16).split(j, jt, jv, 16).reorder(io, iw, jt, iv, jv)
    P.gpu_blocks(io).gpu_threads(iw).unroll(jt).vectorize(iv).vectorize(jv)
    score.compute_at(P, io).store_in(mma_accumulator).split(i, iw, iv, 16).split(j, jt, jv, 16)
    score.reorder(iw, jt, iv, jv).gpu_threads(iw).unroll(jt).vectorize(iv).vectorize(jv)
    score.update.split(k, ko, kv, 16).split(i, iw, iv, 16).split(j, jt, jv, 16).reorder(ko, iw, jt, iv, jv, kv)
    score.update.gpu_threads(iw).unroll(jt).atomic().vectorize(iv).vectorize(jv).vectorize(kv)
    A.in(score).compute_at(score.update, ko).store_in(shared)
    B.in(score).compute_at(score.update, ko).store_in(shared)
    top.compute_at(P, io).store_in(shared).split(i, iw, il, 16).gpu_threads(iw).gpu_lanes(il)
    top.update.split(i, iw, iv, 16).split(u, ut, uv, 16).reorder(iw, ut, iv, uv).gpu_threads(iw).unroll(ut)
    top.update.atomic().vectorize(iv).vectorize(uv)
    sum.compute_at(P, io).store_in(shared).split(i, iw, il, 16).gpu_threads(iw).gpu_lanes(il)
    sum.update.split(i, iw, iv, 16).split(v, vt, vv, 16).reorder(iw, vt, iv, vv).gpu_threads(iw).unroll(vt)
    sum.update.atomic().vectorize(iv).vectorize(vv)
}
