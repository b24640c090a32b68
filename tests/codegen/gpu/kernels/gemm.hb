size   M, N, K
input  A: f32[M, K]
input  B: f32[K, N]
output C: f32[M, N]

reduce k in K
acc[i, j]  = 0
acc[i, j] += A[i, k] * B[k, j]
C[i, j]    = acc[i, j]

schedule direct for cuda {
    C.tile(i, j, io, jo, ii, ji, 4, 8).gpu_blocks(io, jo).gpu_threads(ii, ji)
    acc.compute_at(C, ji)
}

schedule staged for cuda {
    C.tile(i, j, io, jo, ii, ji, 16, 16).gpu_blocks(io, jo)
    C.split(ii, it, iv, 2).split(ji, jt, jv, 2).reorder(it, jt, iv, jv).gpu_threads(it, jt)
    C.unroll(iv).unroll(jv)
    acc.compute_at(C, jo).store_in(registers)
    acc.split(i, it, iv, 2).split(j, jt, jv, 2).reorder(it, jt, iv, jv).gpu_threads(it, jt)
    acc.unroll(iv).unroll(jv)
    acc.update.split(k, ko, ki, 4).split(i, it, iv, 2).split(j, jt, jv, 2)
        .reorder(ko, it, jt, ki, iv, jv).gpu_threads(it, jt).unroll(iv).unroll(jv)
    A.in(acc).compute_at(acc.update, ko)
    B.in(acc).compute_at(acc.update, ko)
}

schedule vectors for cuda {
    C.tile(i, j, io, jo, ii, ji, 8, 32).gpu_blocks(io, jo)
    C.split(ji, jt, jv, 4).gpu_threads(ii, jt).vectorize(jv)
    acc.compute_at(C, jo).store_in(registers).split(j, jt, jv, 4).gpu_threads(i, jt).unroll(jv)
    acc.update.split(k, ko, ki, 8).split(j, jt, jv, 4).reorder(ko, i, jt, ki, jv)
        .gpu_threads(i, jt).unroll(jv)
    A.in(acc).compute_at(acc.update, ko).vectorize(k, 4)
    B.in(acc).compute_at(acc.update, ko).vectorize(j, 4).store_in(shared)
}

# Two blocks of the sum at a time, and threads that add them up.
schedule halves for cuda {
    C.tile(i, j, io, jo, ii, ji, 4, 8, tail = guard).gpu_blocks(io, jo).gpu_threads(ii, ji)
    acc.compute_at(C, jo)
    acc.update.split(k, ko, ki, 2).rfactor(ki, u)
    acc_u.compute_at(C, jo).reorder(u, i, j).gpu_threads(u, i, j)
    acc_u.update.reorder(u, i, j, ko).gpu_threads(u, i, j)
}
