# Matrix product of half floats with single-precision sums, for NVIDIA's GPUs.
#
#     C[i, j] = sum over k of A[i, k] * B[k, j]

size   M, N, K
input  A: f16[M, K]
input  B: f16[K, N]
output C: f32[M, N]

reduce k in K
acc[i, j]  = 0
acc[i, j] += f32(A[i, k]) * f32(B[k, j])
C[i, j]    = acc[i, j]

# Tensor cores by `mma.sync`: each of four warps makes 64 x 64 sums in registers. While 32 steps of k are
# multiplied, the next two times 32 are on their way to shared memory, where units of 16 bytes change places so
# that the rows `ldmatrix` reads lie in different banks.
schedule mma for cuda {
    C.tile(i, j, io, jo, ii, ji, 128, 128).tile(ii, ji, iw, jw, iu, ju, 64, 64)
    C.gpu_blocks(io, jo).gpu_threads(iw, jw)
    C.tile(iu, ju, it, jt, iv, jv, 16, 16).unroll(it).unroll(jt).vectorize(iv).vectorize(jv)
    acc.compute_at(C, jo).store_in(mma_accumulator)
    acc.tile(i, j, iw, jw, iu, ju, 64, 64).gpu_threads(iw, jw)
    acc.tile(iu, ju, it, jt, iv, jv, 16, 16).unroll(it).unroll(jt).vectorize(iv).vectorize(jv)
    acc.update.split(k, ko, ki, 32).split(ki, kt, kv, 16)
    acc.update.tile(i, j, iw, jw, iu, ju, 64, 64).tile(iu, ju, it, jt, iv, jv, 16, 16)
    acc.update.reorder(ko, iw, jw, kt, it, jt, iv, jv, kv).gpu_threads(iw, jw).pipeline(ko, 3)
    acc.update.unroll(kt).unroll(it).unroll(jt).atomic().vectorize(iv).vectorize(jv).vectorize(kv)
    A.in(acc).compute_at(acc.update, ko).store_in(shared).swizzle_storage(k)
    A.in(acc).split(k, ku, kv, 8).fuse(i, ku, t).split(t, tt, tu, 128)
    A.in(acc).gpu_threads(tu).unroll(tt).vectorize(kv)
    B.in(acc).compute_at(acc.update, ko).store_in(shared).swizzle_storage(j)
    B.in(acc).split(j, ju, jv, 8).fuse(k, ju, t).split(t, tt, tu, 128)
    B.in(acc).gpu_threads(tu).unroll(tt).vectorize(jv)
}

# Tensor cores by WMMA. Eight warps make 128 x 128 sums, each 2 x 4 fragments. 32 steps of k at a time come to
# shared memory, 16 bytes at once; rows are 16 bytes longer there, so that the rows of a fragment lie in
# different banks. Blocks at the edges fill up with zeros, and store what there is; any size will do.
schedule wmma for cuda {
    C.tile(i, j, io, jo, ii, ji, 128, 128).tile(ii, ji, iw, jw, iu, ju, 32, 64)
    C.gpu_blocks(io, jo).gpu_threads(iw, jw)
    C.tile(iu, ju, it, jt, iv, jv, 16, 16).unroll(it).unroll(jt).vectorize(iv).vectorize(jv)
    acc.compute_at(C, jo).store_in(wmma_accumulator)
    acc.tile(i, j, iw, jw, iu, ju, 32, 64).gpu_threads(iw, jw)
    acc.tile(iu, ju, it, jt, iv, jv, 16, 16).unroll(it).unroll(jt).vectorize(iv).vectorize(jv)
    acc.update.split(k, ko, ki, 32).split(ki, kt, kv, 16)
    acc.update.tile(i, j, iw, jw, iu, ju, 32, 64).tile(iu, ju, it, jt, iv, jv, 16, 16)
    acc.update.reorder(ko, iw, jw, kt, it, jt, iv, jv, kv).gpu_threads(iw, jw)
    acc.update.unroll(kt).unroll(it).unroll(jt).atomic().vectorize(iv).vectorize(jv).vectorize(kv)
    A.in(acc).compute_at(acc.update, ko).store_in(shared).pad_storage(k, 40)
    A.in(acc).split(k, ku, kv, 8).fuse(i, ku, t).split(t, tt, tu, 256)
    A.in(acc).gpu_threads(tu).unroll(tt).vectorize(kv)
    B.in(acc).compute_at(acc.update, ko).store_in(shared).pad_storage(j, 136)
    B.in(acc).split(j, ju, jv, 8).fuse(k, ju, t).split(t, tt, tu, 256)
    B.in(acc).gpu_threads(tu).unroll(tt).vectorize(jv)
}

# The same by four warps, for small matrices.
schedule wmma_64 for cuda {
    C.tile(i, j, io, jo, ii, ji, 64, 64).tile(ii, ji, iw, jw, iu, ju, 32, 32)
    C.gpu_blocks(io, jo).gpu_threads(iw, jw)
    C.tile(iu, ju, it, jt, iv, jv, 16, 16).unroll(it).unroll(jt).vectorize(iv).vectorize(jv)
    acc.compute_at(C, jo).store_in(wmma_accumulator)
    acc.tile(i, j, iw, jw, iu, ju, 32, 32).gpu_threads(iw, jw)
    acc.tile(iu, ju, it, jt, iv, jv, 16, 16).unroll(it).unroll(jt).vectorize(iv).vectorize(jv)
    acc.update.split(k, ko, ki, 32).split(ki, kt, kv, 16)
    acc.update.tile(i, j, iw, jw, iu, ju, 32, 32).tile(iu, ju, it, jt, iv, jv, 16, 16)
    acc.update.reorder(ko, iw, jw, kt, it, jt, iv, jv, kv).gpu_threads(iw, jw)
    acc.update.unroll(kt).unroll(it).unroll(jt).atomic().vectorize(iv).vectorize(jv).vectorize(kv)
    A.in(acc).compute_at(acc.update, ko).store_in(shared).pad_storage(k, 40)
    A.in(acc).split(k, ku, kv, 8).fuse(i, ku, t).split(t, tt, tu, 128)
    A.in(acc).gpu_threads(tu).unroll(tt).vectorize(kv)
    B.in(acc).compute_at(acc.update, ko).store_in(shared).pad_storage(j, 72)
    B.in(acc).split(j, ju, jv, 8).fuse(k, ju, t).split(t, tt, tu, 128)
    B.in(acc).gpu_threads(tu).unroll(tt).vectorize(jv)
}

# The same sums with every fragment loaded from the device's memory.
schedule wmma_direct for cuda {
    C.tile(i, j, io, jo, ii, ji, 64, 64).tile(ii, ji, iw, jw, iu, ju, 32, 32)
    C.gpu_blocks(io, jo).gpu_threads(iw, jw)
    C.tile(iu, ju, it, jt, iv, jv, 16, 16).unroll(it).unroll(jt).vectorize(iv).vectorize(jv)
    acc.compute_at(C, jw).store_in(wmma_accumulator)
    acc.tile(i, j, it, jt, iv, jv, 16, 16).unroll(it).unroll(jt).vectorize(iv).vectorize(jv)
    acc.update.split(k, ko, kv, 16).tile(i, j, it, jt, iv, jv, 16, 16)
    acc.update.reorder(ko, it, jt, iv, jv, kv).unroll(it).unroll(jt)
    acc.update.atomic().vectorize(iv).vectorize(jv).vectorize(kv)
}

# The same with copies that run ahead: while the fragments of 32 steps of k are multiplied, the next two times
# 32 are on their way to shared memory.
schedule wmma_async for cuda {
    C.tile(i, j, io, jo, ii, ji, 128, 128).tile(ii, ji, iw, jw, iu, ju, 32, 64)
    C.gpu_blocks(io, jo).gpu_threads(iw, jw)
    C.tile(iu, ju, it, jt, iv, jv, 16, 16).unroll(it).unroll(jt).vectorize(iv).vectorize(jv)
    acc.compute_at(C, jo).store_in(wmma_accumulator)
    acc.tile(i, j, iw, jw, iu, ju, 32, 64).gpu_threads(iw, jw)
    acc.tile(iu, ju, it, jt, iv, jv, 16, 16).unroll(it).unroll(jt).vectorize(iv).vectorize(jv)
    acc.update.split(k, ko, ki, 32).split(ki, kt, kv, 16)
    acc.update.tile(i, j, iw, jw, iu, ju, 32, 64).tile(iu, ju, it, jt, iv, jv, 16, 16)
    acc.update.reorder(ko, iw, jw, kt, it, jt, iv, jv, kv).gpu_threads(iw, jw).pipeline(ko, 3)
    acc.update.unroll(kt).unroll(it).unroll(jt).atomic().vectorize(iv).vectorize(jv).vectorize(kv)
    A.in(acc).compute_at(acc.update, ko).store_in(shared).pad_storage(k, 40)
    A.in(acc).split(k, ku, kv, 8).fuse(i, ku, t).split(t, tt, tu, 256)
    A.in(acc).gpu_threads(tu).unroll(tt).vectorize(kv)
    B.in(acc).compute_at(acc.update, ko).store_in(shared).pad_storage(j, 136)
    B.in(acc).split(j, ju, jv, 8).fuse(k, ju, t).split(t, tt, tu, 256)
    B.in(acc).gpu_threads(tu).unroll(tt).vectorize(jv)
}

# Tensor cores by `wgmma`, for sm_90a: each of two groups of four warps makes 64 x 256 sums in registers. It reads
# 64 steps of k of both factors where they lie in shared memory, and goes on with the next while those are
# multiplied; two more are on their way. Eight tiles below each other, then the eight beside them.
schedule wgmma for cuda {
    C.tile(i, j, io, jo, ii, ji, 128, 256).split(ii, iw, iv, 64).split(io, ig, ih, 8)
    C.reorder(ig, jo, ih, iw, iv, ji).gpu_blocks(ig, jo, ih).gpu_threads(iw).vectorize(iv).vectorize(ji)
    acc.compute_at(C, ih).store_in(wgmma_accumulator)
    acc.split(i, iw, iv, 64).gpu_threads(iw).vectorize(iv).vectorize(j)
    acc.update.split(k, ko, ki, 64).split(ki, kt, kv, 16).split(i, iw, iv, 64)
    acc.update.reorder(ko, iw, kt, iv, j, kv).gpu_threads(iw).pipeline(ko, 4)
    acc.update.unroll(kt).atomic().vectorize(iv).vectorize(j).vectorize(kv)
    A.in(acc).compute_at(acc.update, ko).store_in(shared)
    A.in(acc).split(k, ku, kv, 8).fuse(i, ku, t).split(t, tt, tu, 256)
    A.in(acc).gpu_threads(tu).unroll(tt).vectorize(kv)
    B.in(acc).compute_at(acc.update, ko).store_in(shared)
    B.in(acc).split(j, ju, jv, 8).fuse(k, ju, t).split(t, tt, tu, 256)
    B.in(acc).gpu_threads(tu).unroll(tt).vectorize(jv)
}

# The same with both factors copied in bulk: one thread asks for each tile, and all wait until it has landed.
schedule wgmma_tma for cuda {
    C.tile(i, j, io, jo, ii, ji, 128, 256).split(ii, iw, iv, 64).split(io, ig, ih, 8)
    C.reorder(ig, jo, ih, iw, iv, ji).gpu_blocks(ig, jo, ih).gpu_threads(iw).vectorize(iv).vectorize(ji)
    acc.compute_at(C, ih).store_in(wgmma_accumulator)
    acc.split(i, iw, iv, 64).gpu_threads(iw).vectorize(iv).vectorize(j)
    acc.update.split(k, ko, ki, 64, tail = guard).split(ki, kt, kv, 16).split(i, iw, iv, 64)
    acc.update.reorder(ko, iw, kt, iv, j, kv).gpu_threads(iw).pipeline(ko, 4)
    acc.update.unroll(kt).atomic().vectorize(iv).vectorize(j).vectorize(kv)
    A.in(acc).compute_at(acc.update, ko).store_in(shared).vectorize(k, 8).copy_in_bulk()
    B.in(acc).compute_at(acc.update, ko).store_in(shared).vectorize(j, 8).copy_in_bulk()
}

# The same by tiles of 128 x 128, two of which a multiprocessor holds at once.
schedule wgmma_128 for cuda {
    C.tile(i, j, io, jo, ii, ji, 128, 128).split(ii, iw, iv, 64).split(io, ig, ih, 8)
    C.reorder(ig, jo, ih, iw, iv, ji).gpu_blocks(ig, jo, ih).gpu_threads(iw).vectorize(iv).vectorize(ji)
    acc.compute_at(C, ih).store_in(wgmma_accumulator)
    acc.split(i, iw, iv, 64).gpu_threads(iw).vectorize(iv).vectorize(j)
    acc.update.split(k, ko, ki, 64).split(ki, kt, kv, 16).split(i, iw, iv, 64)
    acc.update.reorder(ko, iw, kt, iv, j, kv).gpu_threads(iw).pipeline(ko, 3)
    acc.update.unroll(kt).atomic().vectorize(iv).vectorize(j).vectorize(kv)
    A.in(acc).compute_at(acc.update, ko).store_in(shared)
    A.in(acc).split(k, ku, kv, 8).fuse(i, ku, t).split(t, tt, tu, 256)
    A.in(acc).gpu_threads(tu).unroll(tt).vectorize(kv)
    B.in(acc).compute_at(acc.update, ko).store_in(shared)
    B.in(acc).split(j, ju, jv, 8).fuse(k, ju, t).split(t, tt, tu, 256)
    B.in(acc).gpu_threads(tu).unroll(tt).vectorize(jv)
}

# `wgmma_128` so.
schedule wgmma_tma_128 for cuda {
    C.tile(i, j, io, jo, ii, ji, 128, 128).split(ii, iw, iv, 64).split(io, ig, ih, 8)
    C.reorder(ig, jo, ih, iw, iv, ji).gpu_blocks(ig, jo, ih).gpu_threads(iw).vectorize(iv).vectorize(ji)
    acc.compute_at(C, ih).store_in(wgmma_accumulator)
    acc.split(i, iw, iv, 64).gpu_threads(iw).vectorize(iv).vectorize(j)
    acc.update.split(k, ko, ki, 64, tail = guard).split(ki, kt, kv, 16).split(i, iw, iv, 64)
    acc.update.reorder(ko, iw, kt, iv, j, kv).gpu_threads(iw).pipeline(ko, 3)
    acc.update.unroll(kt).atomic().vectorize(iv).vectorize(j).vectorize(kv)
    A.in(acc).compute_at(acc.update, ko).store_in(shared).vectorize(k, 8).copy_in_bulk()
    B.in(acc).compute_at(acc.update, ko).store_in(shared).vectorize(j, 8).copy_in_bulk()
}

# `mma` by as many blocks as run at once, each of which takes tile after tile: eight below each other,
# then the eight beside them, so that blocks that run together read the same rows and columns.
schedule mma_persistent for cuda {
    C.tile(i, j, io, jo, ii, ji, 128, 128).tile(ii, ji, iw, jw, iu, ju, 64, 64)
    C.split(io, ig, ih, 8).reorder(ig, jo, ih, iw, jw, iu, ju)
    C.gpu_blocks(ig, jo, ih).gpu_threads(iw, jw).persistent()
    C.tile(iu, ju, it, jt, iv, jv, 16, 16).unroll(it).unroll(jt).vectorize(iv).vectorize(jv)
    acc.compute_at(C, ih).store_in(mma_accumulator)
    acc.tile(i, j, iw, jw, iu, ju, 64, 64).gpu_threads(iw, jw)
    acc.tile(iu, ju, it, jt, iv, jv, 16, 16).unroll(it).unroll(jt).vectorize(iv).vectorize(jv)
    acc.update.split(k, ko, ki, 32).split(ki, kt, kv, 16)
    acc.update.tile(i, j, iw, jw, iu, ju, 64, 64).tile(iu, ju, it, jt, iv, jv, 16, 16)
    acc.update.reorder(ko, iw, jw, kt, it, jt, iv, jv, kv).gpu_threads(iw, jw).pipeline(ko, 3)
    acc.update.unroll(kt).unroll(it).unroll(jt).atomic().vectorize(iv).vectorize(jv).vectorize(kv)
    A.in(acc).compute_at(acc.update, ko).store_in(shared).swizzle_storage(k)
    A.in(acc).split(k, ku, kv, 8).fuse(i, ku, t).split(t, tt, tu, 128)
    A.in(acc).gpu_threads(tu).unroll(tt).vectorize(kv)
    B.in(acc).compute_at(acc.update, ko).store_in(shared).swizzle_storage(j)
    B.in(acc).split(j, ju, jv, 8).fuse(k, ju, t).split(t, tt, tu, 128)
    B.in(acc).gpu_threads(tu).unroll(tt).vectorize(jv)
}

# For a long sum and few results (K far above M and N), which would keep few multiprocessors busy: a block for
# every 1024 steps of k too. Each leaves its sums in the device's memory, and a second kernel adds them in the
# order of k: the same result in every run.
schedule wmma_split_k for cuda {
    acc.update.split(k, ks, kr, 1024).rfactor(ks, s)
    acc_s.in(acc).compute_root().reorder_storage(s, i, j)
    acc_s.in(acc).tile(i, j, io, jo, ii, ji, 64, 64).tile(ii, ji, iw, jw, iu, ju, 32, 32)
    acc_s.in(acc).reorder(s, io, jo, iw, jw, iu, ju).gpu_blocks(s, io, jo).gpu_threads(iw, jw)
    acc_s.in(acc).tile(iu, ju, it, jt, iv, jv, 16, 16).unroll(it).unroll(jt).vectorize(iv).vectorize(jv)
    acc_s.compute_at(acc_s.in(acc), jo).store_in(wmma_accumulator)
    acc_s.tile(i, j, iw, jw, iu, ju, 32, 32).gpu_threads(iw, jw)
    acc_s.tile(iu, ju, it, jt, iv, jv, 16, 16).unroll(it).unroll(jt).vectorize(iv).vectorize(jv)
    acc_s.update.split(kr, ko, ki, 32).split(ki, kt, kv, 16)
    acc_s.update.tile(i, j, iw, jw, iu, ju, 32, 32).tile(iu, ju, it, jt, iv, jv, 16, 16)
    acc_s.update.reorder(ko, iw, jw, kt, it, jt, iv, jv, kv).gpu_threads(iw, jw).pipeline(ko, 3)
    acc_s.update.unroll(kt).unroll(it).unroll(jt).atomic().vectorize(iv).vectorize(jv).vectorize(kv)
    A.in(acc_s).compute_at(acc_s.update, ko).store_in(shared).pad_storage(s, 40)
    A.in(acc_s).split(s, ku, kv, 8).fuse(i, ku, t).split(t, tt, tu, 128)
    A.in(acc_s).gpu_threads(tu).unroll(tt).vectorize(kv)
    B.in(acc_s).compute_at(acc_s.update, ko).store_in(shared).pad_storage(j, 72)
    B.in(acc_s).split(j, ju, jv, 8).fuse(s, ju, t).split(t, tt, tu, 128)
    B.in(acc_s).gpu_threads(tu).unroll(tt).vectorize(jv)
    C.tile(i, j, io, jo, ii, ji, 4, 64).gpu_blocks(io, jo).gpu_threads(ii, ji)
    acc.compute_at(C, ji)
}

# The same with atomic additions: every block adds its sums to the result where it lies, atomically. Blocks come in
# any order, so that the last bits may differ from run to run.
schedule mma_split_k for cuda {
    acc.compute_root().tile(i, j, io, jo, ii, ji, 4, 64).gpu_blocks(io, jo).gpu_threads(ii, ji)
    acc.update.split(k, ks, kr, 1024).rfactor(ks, s)
    acc.update.tile(i, j, io, jo, ii, ji, 64, 64).tile(ii, ji, iw, jw, iu, ju, 32, 32)
    acc.update.reorder(ks, io, jo, iw, jw, iu, ju).atomic().gpu_blocks(ks, io, jo).gpu_threads(iw, jw)
    acc.update.tile(iu, ju, it, jt, iv, jv, 16, 16).unroll(it).unroll(jt).vectorize(iv).vectorize(jv)
    acc_s.compute_at(acc.update, jo).store_in(mma_accumulator)
    acc_s.tile(i, j, iw, jw, iu, ju, 32, 32).gpu_threads(iw, jw)
    acc_s.tile(iu, ju, it, jt, iv, jv, 16, 16).unroll(it).unroll(jt).vectorize(iv).vectorize(jv)
    acc_s.update.split(kr, ko, ki, 32).split(ki, kt, kv, 16)
    acc_s.update.tile(i, j, iw, jw, iu, ju, 32, 32).tile(iu, ju, it, jt, iv, jv, 16, 16)
    acc_s.update.reorder(ko, iw, jw, kt, it, jt, iv, jv, kv).gpu_threads(iw, jw).pipeline(ko, 3)
    acc_s.update.unroll(kt).unroll(it).unroll(jt).atomic().vectorize(iv).vectorize(jv).vectorize(kv)
    A.in(acc_s).compute_at(acc_s.update, ko).store_in(shared).swizzle_storage(s)
    A.in(acc_s).split(s, ku, kv, 8).fuse(i, ku, t).split(t, tt, tu, 128)
    A.in(acc_s).gpu_threads(tu).unroll(tt).vectorize(kv)
    B.in(acc_s).compute_at(acc_s.update, ko).store_in(shared).swizzle_storage(j)
    B.in(acc_s).split(j, ju, jv, 8).fuse(s, ju, t).split(t, tt, tu, 128)
    B.in(acc_s).gpu_threads(tu).unroll(tt).vectorize(jv)
    C.tile(i, j, io, jo, ii, ji, 4, 64).gpu_blocks(io, jo).gpu_threads(ii, ji)
}

# CUDA cores: a thread makes 4 x 4 sums in registers from shared memory. Any size will do.
schedule simt for cuda {
    C.tile(i, j, io, jo, ii, ji, 64, 64).tile(ii, ji, it, jt, iv, jv, 4, 4)
    C.gpu_blocks(io, jo).gpu_threads(it, jt).unroll(iv).vectorize(jv)
    acc.compute_at(C, jo).store_in(registers)
    acc.tile(i, j, it, jt, iv, jv, 4, 4).gpu_threads(it, jt).unroll(iv).unroll(jv)
    acc.update.split(k, ko, ki, 16).tile(i, j, it, jt, iv, jv, 4, 4)
    acc.update.reorder(ko, it, jt, ki, iv, jv).gpu_threads(it, jt).unroll(iv).unroll(jv)
    A.in(acc).compute_at(acc.update, ko).vectorize(k, 4)
    B.in(acc).compute_at(acc.update, ko).vectorize(j, 4)
}

# The same with every element from the device's memory: a thread for each sum.
schedule simt_direct for cuda {
    C.tile(i, j, io, jo, ii, ji, 16, 16).gpu_blocks(io, jo).gpu_threads(ii, ji)
    acc.compute_at(C, ji)
}

# The same as `simt` with copies that run ahead: while 16 steps of k are summed, the next two times 16 are on
# their way to shared memory.
schedule simt_async for cuda {
    C.tile(i, j, io, jo, ii, ji, 64, 64).tile(ii, ji, it, jt, iv, jv, 4, 4)
    C.gpu_blocks(io, jo).gpu_threads(it, jt).unroll(iv).vectorize(jv)
    acc.compute_at(C, jo).store_in(registers)
    acc.tile(i, j, it, jt, iv, jv, 4, 4).gpu_threads(it, jt).unroll(iv).unroll(jv)
    acc.update.split(k, ko, ki, 16).tile(i, j, it, jt, iv, jv, 4, 4)
    acc.update.reorder(ko, it, jt, ki, iv, jv).gpu_threads(it, jt).unroll(iv).unroll(jv)
    acc.update.pipeline(ko, 3)
    A.in(acc).compute_at(acc.update, ko).vectorize(k, 4)
    B.in(acc).compute_at(acc.update, ko).vectorize(j, 4)
}

example { M = 512; N = 512; K = 512; A = random(1); B = random(2) }
