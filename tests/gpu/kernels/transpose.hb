size M, N
input A: f16[M, N]
output B: f16[N, M]
B[j, i] = A[i, j]
schedule shared for cuda {
    B.tile(j, i, jo, io, ji, ii, 32, 32).gpu_blocks(jo, io).split(ji, js, jt, 8).reorder(js, jt, ii).gpu_threads(jt, ii)
    A.in(B).compute_at(B, io).pad_storage(j, 33)
}
