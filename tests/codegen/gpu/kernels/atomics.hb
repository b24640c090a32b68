size   M, N
input  A: f32[M, N]
output S: f32[N]
output T: f32[1]

reduce i in M, k in N
part[j]  = 0
part[j] += A[i, j]
S[j]     = 2 * part[j]
T[z]     = 1
T[z]    += A[i, k]

# Every block adds to the same results.
schedule blocks for cuda {
    S.split(j, jo, ji, 64).gpu_blocks(jo).gpu_threads(ji)
    part.compute_root()
    part.update.split(i, io, ii, 4).reorder(io, j, ii).atomic().gpu_blocks(io).gpu_threads(ii)
    T.update.fuse(i, k, ik).split(ik, to, ti, 96).atomic().gpu_blocks(to).gpu_threads(ti)
}

# The threads of a block add to shared memory, which other threads read then.
schedule inblock for cuda {
    S.split(j, jo, ji, 8).gpu_blocks(jo).gpu_threads(ji)
    part.compute_at(S, jo).store_in(shared)
    part.update.split(i, io, ii, 12).reorder(io, j, ii).atomic().gpu_threads(j, ii)
    T.update.split(i, io, ii, 4).reorder(ii, io, k).atomic().gpu_blocks(ii)
}

# A warp adds up what its lanes have.
schedule lanes for cuda {
    S.split(j, jo, ji, 4).gpu_blocks(jo).gpu_threads(ji)
    part.compute_at(S, jo).store_in(shared)
    part.update.split(i, io, ii, 32).reorder(io, j, ii).atomic().gpu_threads(j).gpu_lanes(ii)
    T.update.split(i, io, iu, 2).split(k, ko, kt, 32).reorder(io, ko, kt, iu).atomic()
    T.update.gpu_blocks(io).gpu_threads(kt).unroll(iu)
}
