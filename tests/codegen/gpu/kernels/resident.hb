size   M, N, K
input  A: f32[M, K]
input  B: f32[K, N]
output C: f32[M, N]

reduce k in K
acc[i, j]  = 0
acc[i, j] += A[i, k] * B[k, j]
C[i, j]    = acc[i, j]

# Nothing is shared: no tile waits for another.
schedule alone for cuda {
    C.tile(i, j, io, jo, ii, ji, 4, 8).gpu_blocks(io, jo).gpu_threads(ii, ji).persistent()
    acc.compute_at(C, ji)
}

# The loop over k has a barrier before its copies in any case.
schedule staged for cuda {
    C.tile(i, j, io, jo, ii, ji, 8, 16).gpu_blocks(io, jo).gpu_threads(ii, ji).persistent(2)
    acc.compute_at(C, jo).store_in(registers).gpu_threads(i, j)
    acc.update.split(k, ko, ki, 4).reorder(ko, i, j, ki).gpu_threads(i, j)
    A.in(acc).compute_at(acc.update, ko)
    B.in(acc).compute_at(acc.update, ko)
}

# A panel for the whole tile: the next tile's waits for its readers.
schedule panel for cuda {
    C.split(i, io, ii, 8).split(j, jo, ji, 16).reorder(io, jo, ii, ji).gpu_blocks(io, jo)
    C.gpu_threads(ii, ji).persistent().at_once(3)
    acc.compute_at(C, jo).store_in(shared).gpu_threads(i, j)
    acc.update.gpu_threads(i, j)
    acc.in(C).compute_at(C, jo).store_in(shared).reorder(j, i).gpu_threads(j, i)
}

# Copies run ahead within a tile; those of the next begin when all have read this one's.
schedule ahead for cuda {
    C.tile(i, j, io, jo, ii, ji, 8, 16, tail = guard).gpu_blocks(io, jo).persistent()
    C.gpu_threads(ii, ji)
    acc.compute_at(C, jo).store_in(registers).gpu_threads(i, j)
    acc.update.split(k, ko, ki, 4).reorder(ko, i, j, ki).gpu_threads(i, j).pipeline(ko, 3)
    A.in(acc).compute_at(acc.update, ko)
    B.in(acc).compute_at(acc.update, ko)
}
