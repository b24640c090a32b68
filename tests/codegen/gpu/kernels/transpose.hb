size M, N
input A: f16[M, N]
output B: f16[N, M]
B[j, i] = A[i, j]
schedule shared for cuda {
    B.tile(j, i, jo, io, ji, ii, 32, 32).gpu_blocks(jo, io).split(ji, js, jt, 8).reorder(js, jt, ii).gpu_threads(jt, ii)
    A.in(B).compute_at(B, io).pad_storage(j, 33)
}
schedule swizzled for cuda {
    B.tile(j, i, jo, io, ji, ii, 32, 32).gpu_blocks(jo, io).split(ji, js, jt, 8).reorder(js, jt, ii).gpu_threads(jt, ii)
    A.in(B).compute_at(B, io).swizzle_storage(j, 2)
}
schedule units for cuda {
    B.tile(j, i, jo, io, ji, ii, 16, 32).gpu_blocks(jo, io).gpu_threads(ji).vectorize(ii, 8)
    A.in(B).compute_at(B, io).vectorize(j, 8).swizzle_storage(j)
}
schedule unrolled for cuda {
    B.tile(j, i, jo, io, ji, ii, 32, 32).gpu_blocks(jo, io).split(ji, js, jt, 8).unroll(js).gpu_threads(jt, ii)
    A.in(B).compute_at(B, io).pad_storage(j, 33)
}
