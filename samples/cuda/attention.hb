# Softmax attention of B heads in half floats with single-precision sums, for NVIDIA's GPUs: L queries against L
# keys of D numbers.
#
#     S = Q K^T,   O = softmax(S / sqrt(D)) V   (softmax over each row)
#
# As three kernels do it, the whole matrix goes through memory, as scores and then as weights;
# `attention_fused.hb` avoids that. Stable: the largest score of a row is subtracted before `exp`.

size   B, L, D
input  Q: f16[B, L, D]
input  K: f16[B, L, D]
input  V: f16[B, L, D]
output O: f32[B, L, D]

reduce d in D, j in L
dot[b, i, l]    = 0
dot[b, i, l]   += f32(Q[b, i, d]) * f32(K[b, l, d])
score[b, i, l]  = dot[b, i, l] / sqrt(f32(D))
most[b, i]      = -inf
most[b, i]   max= score[b, i, j]
part[b, i, l]   = exp(score[b, i, l] - most[b, i])
total[b, i]     = 0
total[b, i]    += part[b, i, j]
weight[b, i, l] = f16(part[b, i, l] / total[b, i])
sum[b, i, e]    = 0
sum[b, i, e]   += f32(weight[b, i, j]) * f32(V[b, j, e])
O[b, i, e]      = sum[b, i, e]

# Tensor cores. Four warps make 64 x 64 scores, each 32 x 32 of them, from 64 x 32 numbers of Q and K in shared
# memory at a time; the same for the results. Of each row, 32 lanes take every 32nd score.
schedule wmma for cuda {
    score.compute_root().pad_storage(l, 16)
    score.tile(i, l, io, lo, ii, li, 64, 64).tile(ii, li, iw, lw, iu, lu, 32, 32)
    score.gpu_blocks(b, io, lo).gpu_threads(iw, lw)
    score.tile(iu, lu, it, lt, iv, lv, 16, 16).unroll(it).unroll(lt).vectorize(iv).vectorize(lv)
    dot.compute_at(score, lo).store_in(wmma_accumulator)
    dot.tile(i, l, iw, lw, iu, lu, 32, 32).gpu_threads(iw, lw)
    dot.tile(iu, lu, it, lt, iv, lv, 16, 16).unroll(it).unroll(lt).vectorize(iv).vectorize(lv)
    dot.update.split(d, do, di, 32).split(di, dt, dv, 16)
    dot.update.tile(i, l, iw, lw, iu, lu, 32, 32).tile(iu, lu, it, lt, iv, lv, 16, 16)
    dot.update.reorder(b, do, iw, lw, dt, it, lt, iv, lv, dv).gpu_threads(iw, lw)
    dot.update.unroll(dt).unroll(it).unroll(lt).atomic().vectorize(iv).vectorize(lv).vectorize(dv)
    Q.in(dot).compute_at(dot.update, do).store_in(shared).pad_storage(d, 40).vectorize(d, 8)
    K.in(dot).compute_at(dot.update, do).store_in(shared).pad_storage(d, 40).vectorize(d, 8)
    weight.compute_root().pad_storage(l, 16).split(l, lo, ll, 32).reorder(b, i, ll, lo).gpu_blocks(b, i).gpu_threads(ll)
    most.compute_at(weight, i).store_in(shared)
    most.update.split(j, jo, ji, 32).rfactor(ji, u)
    most.update.unroll(ji)
    most_u.compute_at(weight, i).store_in(shared).gpu_threads(u)
    most_u.update.reorder(b, i, u, jo).gpu_threads(u)
    total.compute_at(weight, i).store_in(shared)
    total.update.split(j, jo, ji, 32).rfactor(ji, u)
    total.update.unroll(ji)
    total_u.compute_at(weight, i).store_in(shared).gpu_threads(u)
    total_u.update.reorder(b, i, u, jo).gpu_threads(u)
    O.tile(i, e, io, eo, ii, ei, 64, 64).tile(ii, ei, iw, ew, iu, eu, 32, 32)
    O.gpu_blocks(b, io, eo).at_once(5).gpu_threads(iw, ew)
    O.tile(iu, eu, it, et, iv, ev, 16, 16).unroll(it).unroll(et).vectorize(iv).vectorize(ev)
    sum.compute_at(O, eo).store_in(wmma_accumulator)
    sum.tile(i, e, iw, ew, iu, eu, 32, 32).gpu_threads(iw, ew)
    sum.tile(iu, eu, it, et, iv, ev, 16, 16).unroll(it).unroll(et).vectorize(iv).vectorize(ev)
    sum.update.split(j, jo, ji, 32).split(ji, jt, jv, 16)
    sum.update.tile(i, e, iw, ew, iu, eu, 32, 32).tile(iu, eu, it, et, iv, ev, 16, 16)
    sum.update.reorder(b, jo, iw, ew, jt, it, et, iv, ev, jv).gpu_threads(iw, ew)
    sum.update.unroll(jt).unroll(it).unroll(et).atomic().vectorize(iv).vectorize(ev).vectorize(jv)
    weight.in(sum).compute_at(sum.update, jo).store_in(shared).pad_storage(l, 40).vectorize(l, 8)
    V.in(sum).compute_at(sum.update, jo).store_in(shared).pad_storage(e, 72).vectorize(e, 8)
}

# CUDA cores. The same tiles, in which a thread makes 4 x 4 sums in registers.
schedule simt for cuda {
    score.compute_root().tile(i, l, io, lo, ii, li, 64, 64).tile(ii, li, it, lt, iv, lv, 4, 4)
    score.gpu_blocks(b, io, lo).gpu_threads(it, lt).unroll(iv).vectorize(lv)
    dot.compute_at(score, lo).store_in(registers)
    dot.tile(i, l, it, lt, iv, lv, 4, 4).gpu_threads(it, lt).unroll(iv).unroll(lv)
    dot.update.split(d, do, di, 16).tile(i, l, it, lt, iv, lv, 4, 4)
    dot.update.reorder(b, do, it, lt, di, iv, lv).gpu_threads(it, lt).unroll(iv).unroll(lv)
    Q.in(dot).compute_at(dot.update, do).pad_storage(d, 18)
    K.in(dot).compute_at(dot.update, do).pad_storage(d, 18)
    weight.compute_root().split(l, lo, ll, 32).reorder(b, i, ll, lo).gpu_blocks(b, i).gpu_threads(ll)
    most.compute_at(weight, i).store_in(shared)
    most.update.split(j, jo, ji, 32).rfactor(ji, u)
    most.update.unroll(ji)
    most_u.compute_at(weight, i).store_in(shared).gpu_threads(u)
    most_u.update.reorder(b, i, u, jo).gpu_threads(u)
    total.compute_at(weight, i).store_in(shared)
    total.update.split(j, jo, ji, 32).rfactor(ji, u)
    total.update.unroll(ji)
    total_u.compute_at(weight, i).store_in(shared).gpu_threads(u)
    total_u.update.reorder(b, i, u, jo).gpu_threads(u)
    O.tile(i, e, io, eo, ii, ei, 64, 64).tile(ii, ei, it, et, iv, ev, 4, 4)
    O.gpu_blocks(b, io, eo).gpu_threads(it, et).unroll(iv).vectorize(ev)
    sum.compute_at(O, eo).store_in(registers)
    sum.tile(i, e, it, et, iv, ev, 4, 4).gpu_threads(it, et).unroll(iv).unroll(ev)
    sum.update.split(j, jo, ji, 16).tile(i, e, it, et, iv, ev, 4, 4)
    sum.update.reorder(b, jo, it, et, ji, iv, ev).gpu_threads(it, et).unroll(iv).unroll(ev)
    weight.in(sum).compute_at(sum.update, jo)
    V.in(sum).compute_at(sum.update, jo).vectorize(e, 8)
}

example { B = 2; L = 128; D = 64; Q = random(1, -1, 1); K = random(2, -1, 1); V = random(3, -1, 1) }
