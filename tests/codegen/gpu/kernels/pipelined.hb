size   M, N, K
input  A: f32[M, K]
input  B: f32[K, N]
output C: f32[M, N]

reduce k in K
acc[i, j]  = 0
acc[i, j] += A[i, k] * B[k, j]
C[i, j]    = acc[i, j]

schedule two for cuda {
    C.tile(i, j, io, jo, ii, ji, 8, 32).gpu_blocks(io, jo)
    C.split(ji, jt, jv, 4).gpu_threads(ii, jt).vectorize(jv)
    acc.compute_at(C, jo).store_in(registers).split(j, jt, jv, 4).gpu_threads(i, jt).unroll(jv)
    acc.update.split(k, ko, ki, 4).split(j, jt, jv, 4).reorder(ko, i, jt, ki, jv)
        .gpu_threads(i, jt).unroll(jv).pipeline(ko, 2)
    A.in(acc).compute_at(acc.update, ko).vectorize(k, 4)
    B.in(acc).compute_at(acc.update, ko).vectorize(j, 4)
}

# The last iteration has less to do.
schedule three for cuda {
    C.tile(i, j, io, jo, ii, ji, 8, 16, tail = guard).gpu_blocks(io, jo).gpu_threads(ii, ji)
    acc.compute_at(C, jo).store_in(registers).gpu_threads(i, j)
    acc.update.split(k, ko, ki, 4, tail = guard).reorder(ko, i, j, ki).gpu_threads(i, j)
    acc.update.pipeline(ko, 3)
    A.in(acc).compute_at(acc.update, ko)
    B.in(acc).compute_at(acc.update, ko)
}

# One operand ahead, the other one when it is needed.
schedule four for cuda {
    C.tile(i, j, io, jo, ii, ji, 8, 16).gpu_blocks(io, jo).gpu_threads(ii, ji)
    acc.compute_at(C, jo).store_in(registers).gpu_threads(i, j)
    acc.update.split(k, ko, ki, 4).reorder(ko, i, j, ki).gpu_threads(i, j).pipeline(ko, 4)
    A.in(acc).compute_at(acc.update, ko)
}
