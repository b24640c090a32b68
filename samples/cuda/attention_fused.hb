# Softmax attention of B heads in half floats with single-precision sums, for NVIDIA's GPUs, without the L x L
# matrix of scores.
#
#     S = Q K^T,   O = softmax(S / sqrt(D)) V   (softmax over each row)
#
# A block goes through the keys of its queries twice: for the largest score of each, and, knowing it, for the
# weights and what they make of V. The scores are made twice, which is less than to keep them, and what has
# been summed need not be scaled again when a larger one comes. A column of ones beside V sums the weights.

size   B, L
param  D: i64 = 64
input  Q: f16[B, L, D]
input  K: f16[B, L, D]
input  V: f16[B, L, D]
output O: f32[B, L, D]
require L % 64 == 0, "queries and keys are taken 64 at a time"

reduce d0 in D, d1 in D, k in L / 32, u in 32, j in L
queries[b, i, d] = Q[b, i, d]
first[b, i, l]   = 0
first[b, i, l]  += f32(queries[b, i, d0]) * f32(K[b, l, d0])
score[b, i, l]   = first[b, i, l]
best[b, i, v]    = -inf
best[b, i, v] max= score[b, i, 32 * k + v]
most[b, i]       = -inf
most[b, i]    max= best[b, i, u]
dot[b, i, l]     = 0
dot[b, i, l]    += f32(queries[b, i, d1]) * f32(K[b, l, d1])
weight[b, i, l]  = f16(exp((dot[b, i, l] - most[b, i]) / sqrt(f32(D))))
more[b, l, e]    = select(e < D, V[b, l, min(e, D - 1)], f16(1.0))
sum[b, i, e]     = 0
sum[b, i, e]    += f32(weight[b, i, j]) * f32(more[b, j, e])
rows[b, i, e]    = sum[b, i, e]
O[b, i, e]       = rows[b, i, e] / rows[b, i, D]

# Tensor cores. Each of four warps has 16 queries; 64 keys at a time come to shared memory. D must be 64.
schedule wmma for cuda {
    O.split(i, io, ii, 64, tail = exact).split(ii, ir, it, 4).split(e, et, el, 32).reorder(b, io, ir, it, el, et)
    O.gpu_blocks(b, io).gpu_threads(it, el).unroll(et)
    queries.compute_at(O, io).store_in(shared).pad_storage(d, 72).vectorize(d, 8)
    most.compute_at(O, io).store_in(shared)
    most.update.unroll(u).gpu_threads(i)
    best.in(most).compute_at(O, io).store_in(shared).pad_storage(v, 33)
    best.in(most).split(i, ir, it, 4).reorder(b, it, v, ir).gpu_threads(it, v).unroll(ir)
    best.compute_at(O, io).store_in(registers)
    best.split(i, ir, it, 4).reorder(b, it, v, ir).gpu_threads(it, v).unroll(ir)
    best.update.split(k, ko, ki, 2, tail = exact).split(i, ir, it, 4).reorder(b, ko, it, v, ir, ki)
    best.update.gpu_threads(it, v).unroll(ir).unroll(ki)
    score.compute_at(best.update, ko).store_in(shared).pad_storage(l, 68)
    score.split(i, iw, iv, 16).split(l, lt, lv, 16).reorder(b, iw, lt, iv, lv).gpu_threads(iw)
    score.unroll(lt).vectorize(iv).vectorize(lv)
    K.in(first).compute_at(best.update, ko).store_in(shared).pad_storage(d0, 72).vectorize(d0, 8)
    first.compute_at(best.update, ko).store_in(wmma_accumulator)
    first.split(i, iw, iv, 16).split(l, lt, lv, 16).reorder(b, iw, lt, iv, lv).gpu_threads(iw)
    first.unroll(lt).vectorize(iv).vectorize(lv)
    first.update.split(d0, dt, dv, 16).split(i, iw, iv, 16).split(l, lt, lv, 16)
    first.update.reorder(b, iw, dt, lt, iv, lv, dv).gpu_threads(iw).unroll(lt)
    first.update.atomic().vectorize(iv).vectorize(lv).vectorize(dv)
    rows.compute_at(O, io).store_in(shared).pad_storage(e, 68)
    rows.split(i, iw, iv, 16).split(e, et, ev, 16).reorder(b, iw, et, iv, ev).gpu_threads(iw)
    rows.unroll(et).vectorize(iv).vectorize(ev)
    sum.compute_at(O, io).store_in(wmma_accumulator)
    sum.split(i, iw, iv, 16).split(e, et, ev, 16).reorder(b, iw, et, iv, ev).gpu_threads(iw)
    sum.unroll(et).vectorize(iv).vectorize(ev)
    sum.update.split(j, jo, ji, 64, tail = exact).split(ji, jt, jv, 16).split(i, iw, iv, 16).split(e, et, ev, 16)
    sum.update.reorder(b, jo, iw, jt, et, iv, ev, jv).gpu_threads(iw).unroll(et)
    sum.update.atomic().vectorize(iv).vectorize(ev).vectorize(jv)
    K.in(dot).compute_at(sum.update, jo).store_in(shared).pad_storage(d1, 72).vectorize(d1, 8)
    more.compute_at(sum.update, jo).store_in(shared).pad_storage(e, 88)
    more.split(e, eh, el, 64).split(el, eg, ev, 8).split(l, lo, lt, 16).reorder(b, eh, lo, lt, eg, ev)
    more.gpu_threads(lt, eg).unroll(eh).vectorize(ev)
    dot.compute_at(sum.update, jo).store_in(wmma_accumulator)
    dot.split(i, iw, iv, 16).split(l, lt, lv, 16).reorder(b, iw, lt, iv, lv).gpu_threads(iw)
    dot.unroll(lt).vectorize(iv).vectorize(lv)
    dot.update.split(d1, dt, dv, 16).split(i, iw, iv, 16).split(l, lt, lv, 16)
    dot.update.reorder(b, iw, dt, lt, iv, lv, dv).gpu_threads(iw).unroll(lt)
    dot.update.atomic().vectorize(iv).vectorize(lv).vectorize(dv)
    weight.compute_at(sum.update, jo).store_in(shared).pad_storage(l, 72)
    weight.split(i, iw, iv, 16).split(l, lt, lv, 16).reorder(b, iw, lt, iv, lv).gpu_threads(iw)
    weight.unroll(lt).vectorize(iv).vectorize(lv)
}

# CUDA cores. The same blocks; a thread makes 4 x 4 scores, and 4 x 4 or 4 x 5 sums, in registers.
schedule simt for cuda {
    O.split(i, io, ii, 64, tail = exact).split(ii, ir, it, 8).split(e, et, el, 32).reorder(b, io, ir, it, el, et)
    O.gpu_blocks(b, io).gpu_threads(it, el).unroll(et)
    queries.compute_at(O, io).store_in(shared).pad_storage(d, 66)
    most.compute_at(O, io).store_in(shared)
    most.update.unroll(u).gpu_threads(i)
    best.in(most).compute_at(O, io).store_in(shared).pad_storage(v, 33)
    best.in(most).split(i, ir, it, 8).reorder(b, it, v, ir).gpu_threads(it, v).unroll(ir)
    best.compute_at(O, io).store_in(registers)
    best.split(i, ir, it, 8).reorder(b, it, v, ir).gpu_threads(it, v).unroll(ir)
    best.update.split(k, ko, ki, 2, tail = exact).split(i, ir, it, 8).reorder(b, ko, it, v, ir, ki)
    best.update.gpu_threads(it, v).unroll(ir).unroll(ki)
    score.compute_at(best.update, ko).store_in(shared).pad_storage(l, 68)
    score.tile(i, l, it, lt, iv, lv, 4, 4).gpu_threads(it, lt).unroll(iv).unroll(lv)
    K.in(first).compute_at(best.update, ko).store_in(shared).pad_storage(d0, 66)
    first.compute_at(score, lt).store_in(registers).unroll(i).unroll(l)
    first.update.reorder(b, d0, i, l).unroll(i).unroll(l)
    rows.compute_at(O, io).store_in(shared).pad_storage(e, 66)
    rows.split(i, it, iv, 4).split(e, ev, et, 16).reorder(b, it, et, iv, ev).gpu_threads(it, et)
    rows.unroll(iv).unroll(ev)
    sum.compute_at(O, io).store_in(registers).pad_storage(e, 80)
    sum.split(i, it, iv, 4).split(e, ev, et, 16).reorder(b, it, et, iv, ev).gpu_threads(it, et)
    sum.unroll(iv).unroll(ev)
    sum.update.split(j, jo, ji, 64, tail = exact).split(i, it, iv, 4).split(e, ev, et, 16)
    sum.update.reorder(b, jo, it, et, ji, iv, ev).gpu_threads(it, et).unroll(iv).unroll(ev)
    K.in(dot).compute_at(sum.update, jo).store_in(shared).pad_storage(d1, 66)
    more.compute_at(sum.update, jo).store_in(shared).pad_storage(e, 66)
    weight.compute_at(sum.update, jo).store_in(shared).pad_storage(l, 66)
    weight.tile(i, l, it, lt, iv, lv, 4, 4).gpu_threads(it, lt).unroll(iv).unroll(lv)
    dot.compute_at(weight, lt).store_in(registers).unroll(i).unroll(l)
    dot.update.reorder(b, d1, i, l).unroll(i).unroll(l)
}

example { B = 2; L = 128; Q = random(1, -1, 1); K = random(2, -1, 1); V = random(3, -1, 1) }
