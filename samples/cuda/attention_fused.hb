# Softmax attention of B heads in half floats with single-precision sums, for NVIDIA's GPUs, without the L x L
# matrix of scores and in one pass over the keys.
#
#     S = Q K^T,   O = softmax(S / sqrt(D)) V   (softmax over each row)
#
# The keys come N at a time. `most` is the largest score so far of each query, `total` the sum of its weights so
# far, `mean` the mean of the values so far with these weights: what a block of keys adds is weighed against what
# there was. Both scans, `most` and `total`, run along with the loop over blocks of keys (`store_at` around it,
# `compute_at` in it), and two of their steps are kept. Beyond the last key stands the last one again, with weight 0.
# Blocks of the same queries of all heads follow each other: where causal, those of the last queries, which take longest,
# are begun first. Weights are powers of 2, which GPUs have an instruction for: exp(x / sqrt(D)) = 2^(x log2(e) / sqrt(D)).

size   B, L
type   T = f16  # or bf16
param  D: i64 = 64  # a multiple of 16
param  causal: i64 = 0  # 1: a query sees the keys up to its own place
param  G: i64 = 1  # heads of queries for each of keys and values; B is a multiple of it
param  N: i64 = 64  # keys at a time; 32 leave more registers where D is more than 128
param  stages: i64 = min(4, 512 / D)  # of keys and values by wgmma
param  R: i64 = max(16, min(32, 2048 / D))  # queries of a warp by mma.sync
input  Q: T[B, L, D]
input  K: T[B / G, L, D]
input  V: T[B / G, L, D]
output O: f32[B, L, D]
require 1 <= L

def scaled(x)  = x * (1.4426950408889634 / sqrt(f32(D)))
def seen(i, l) = select(causal == 1, l <= i, l < L)
def steps(i)   = min((L + N - 1) / N, select(causal == 1, 128 / N * (i / 128 + 1), (L + N - 1) / N))

keys[b, n, l, d]   = clamp_edge(K)[b / G, N * n + l, d]
values[b, n, l, e] = clamp_edge(V)[b / G, N * n + l, e]

reduce d in D, u in N, v in N, j in N, t in steps(i), r in (L + N - 1) / N
dot[b, i, n, l]    = 0
dot[b, i, n, l]   += f32(Q[b, i, d]) * f32(keys[b, n, l, d])
copy[b, i, n, l]   = dot[b, i, n, l]
score[b, i, n, l]  = select(seen(i, N * n + l), copy[b, i, n, l], -inf)
best[b, i, n]      = -inf
best[b, i, n]   max= score[b, i, n, u]
most[b, i, n]      = -inf
most[b, i, r]      = max(most[b, i, r - 1], best[b, i, r])
power[b, i, n, l]  = exp2(scaled(score[b, i, n, l]) - scaled(most[b, i, n]))
weight[b, i, n, l] = T(power[b, i, n, l])
sum[b, i, n]       = 0
sum[b, i, n]      += power[b, i, n, v]
less[b, i, n]      = exp2(scaled(most[b, i, n - 1]) - scaled(most[b, i, n]))
part[b, i, n, e]   = 0
part[b, i, n, e]  += f32(weight[b, i, n, j]) * f32(values[b, n, j, e])
total[b, i]        = 0.0
total[b, i]        = less[b, i, t] * total[b, i] + sum[b, i, t]
mean[b, i, e]      = 0
mean[b, i, e]      = less[b, i, t] * mean[b, i, e] + part[b, i, t, e]
new[b, i]          = 1 / total[b, i]
O[b, i, e]         = mean[b, i, e] * new[b, i]

# Tensor cores by mma.sync. The next 64 keys and values come to shared memory meanwhile. Each of four warps has 32
# queries (16 where D is more than 64: registers hold no more), so that what it loads of keys and values serves twice
# as many products. Scores and weights stay in the registers of the lanes that have them: rows are reduced by
# shuffles, the lanes keep what there is for each row, and weights are the first factor of the next product as they
# are. Sums of weights so far, for which nobody waits, lie in shared memory: with them there, and added before the
# next product, all else fits into 255 registers.
schedule mma for cuda {
    O.split(i, io, ii, 128).split(ii, iw, iu, R).split(iu, it, iv, 16).split(e, et, ev, 16)
    O.reorder(io, b, iw, it, et, iv, ev)
    O.gpu_blocks(io, b).at_once(R / 16).gpu_threads(iw).unroll(it).unroll(et).vectorize(iv).vectorize(ev)
    Q.in(dot).compute_at(O, b).store_in(shared).pad_storage(d, D + 8).vectorize(d, 8)
    new.compute_at(O, b).store_in(shared).split(i, iw, il, R).gpu_threads(iw).gpu_lanes(il)
    mean.compute_at(O, b).store_in(mma_accumulator)
    mean.split(i, iw, iu, R).split(iu, it, iv, 16).split(e, et, ev, 16).reorder(b, iw, it, et, iv, ev).gpu_threads(iw)
    mean.unroll(it).unroll(et).vectorize(iv).vectorize(ev)
    mean.update.split(i, iw, iu, R).split(iu, it, iv, 16).split(e, et, ev, 16)
    mean.update.reorder(b, t, iw, et, it, iv, ev).gpu_threads(iw)
    mean.update.unroll(it).unroll(et).vectorize(iv).vectorize(ev).pipeline(t, 2).compute_with(total.update, t)
    less.compute_at(mean.update, t).store_in(registers).split(i, iw, il, R).gpu_threads(iw).gpu_lanes(il)
    total.compute_at(O, b).store_in(shared).split(i, iw, il, R).gpu_threads(iw).gpu_lanes(il)
    total.update.split(i, iw, il, R).reorder(b, t, iw, il).gpu_threads(iw).gpu_lanes(il)
    total.update.pipeline(t, 2)
    most.store_at(O, b).compute_at(mean.update, t).store_in(registers).reorder_storage(b, n, i)
    most.split(i, iw, il, R).reorder(b, n, iw, il).gpu_threads(iw).gpu_lanes(il)
    most.update.split(i, iw, il, R).reorder(b, r, iw, il).gpu_threads(iw).gpu_lanes(il)
    best.compute_at(mean.update, t).store_in(registers).split(i, iw, il, R).gpu_threads(iw).gpu_lanes(il)
    best.update.split(i, iw, iu, R).split(iu, it, iv, 16).split(u, ut, uv, 16)
    best.update.reorder(b, n, iw, it, ut, iv, uv).gpu_threads(iw)
    best.update.unroll(it).unroll(ut).atomic().vectorize(iv).vectorize(uv)
    sum.compute_at(mean.update, t).store_in(registers).split(i, iw, il, R).gpu_threads(iw).gpu_lanes(il)
    sum.update.split(i, iw, iu, R).split(iu, it, iv, 16).split(v, vt, vv, 16)
    sum.update.reorder(b, n, iw, it, vt, iv, vv).gpu_threads(iw)
    sum.update.unroll(it).unroll(vt).atomic().vectorize(iv).vectorize(vv)
    keys.compute_at(mean.update, t).store_in(shared).pad_storage(d, D + 8).vectorize(d, 8)
    dot.compute_at(mean.update, t).store_in(mma_accumulator)
    dot.split(i, iw, iu, R).split(iu, it, iv, 16).split(l, lt, lv, 16).reorder(b, n, iw, it, lt, iv, lv).gpu_threads(iw)
    dot.unroll(it).unroll(lt).vectorize(iv).vectorize(lv)
    dot.update.split(d, dt, dv, 16).split(i, iw, iu, R).split(iu, it, iv, 16).split(l, lt, lv, 16)
    dot.update.reorder(b, n, iw, dt, it, lt, iv, lv, dv).gpu_threads(iw).unroll(it).unroll(lt)
    dot.update.atomic().vectorize(iv).vectorize(lv).vectorize(dv)
    power.compute_at(mean.update, t).store_in(mma_accumulator)
    power.split(i, iw, iu, R).split(iu, it, iv, 16).split(l, lt, lv, 16).reorder(b, n, iw, it, lt, iv, lv).gpu_threads(iw)
    power.unroll(it).unroll(lt).vectorize(iv).vectorize(lv)
    weight.compute_at(mean.update, t).store_in(mma_accumulator)
    weight.split(i, iw, iu, R).split(iu, it, iv, 16).split(l, lt, lv, 16)
    weight.reorder(b, n, iw, it, lt, iv, lv).gpu_threads(iw).unroll(it).unroll(lt).vectorize(iv).vectorize(lv)
    values.compute_at(mean.update, t).store_in(shared).pad_storage(e, D + 8).vectorize(e, 8)
    part.compute_at(mean.update, et).store_in(mma_accumulator)
    part.split(i, it, iv, 16).split(e, et, ev, 16).reorder(b, n, it, et, iv, ev)
    part.unroll(it).unroll(et).vectorize(iv).vectorize(ev)
    part.update.split(j, jt, jv, 16).split(i, it, iv, 16).split(e, et, ev, 16)
    part.update.reorder(b, n, jt, it, et, iv, ev, jv).unroll(jt).unroll(it).unroll(et)
    part.update.atomic().vectorize(iv).vectorize(ev).vectorize(jv)
}

# By `wgmma`, for sm_90a: each of two groups of four warps has 64 queries. It reads queries, keys and values where they lie in
# shared memory, in rows of 64 elements (D is a multiple of that); weights are the first factor of the second product in the
# registers where they were computed. Scores are kept, masked or not, so that all behind the mask is straight-line code.
schedule wgmma for cuda {
    O.split(i, io, ii, 128).split(ii, iw, iv, 64).reorder(io, b, iw, iv, e)
    O.gpu_blocks(io, b).at_once(max(1, 128 / D)).gpu_threads(iw).vectorize(iv).vectorize(e)
    Q.in(dot).compute_at(O, b).store_in(shared).vectorize(d, 8)
    new.compute_at(O, b).store_in(registers).split(i, iw, il, 16).gpu_threads(iw).gpu_lanes(il)
    mean.compute_at(O, b).store_in(wgmma_accumulator)
    mean.split(i, iw, iv, 64).gpu_threads(iw).vectorize(iv).vectorize(e)
    mean.update.split(i, iw, iv, 64).reorder(b, t, iw, iv, e).gpu_threads(iw)
    mean.update.vectorize(iv).vectorize(e).pipeline(t, stages).compute_with(total.update, t)
    less.compute_at(mean.update, t).store_in(registers).split(i, iw, il, 16).gpu_threads(iw).gpu_lanes(il)
    total.compute_at(O, b).store_in(registers).split(i, iw, il, 16).gpu_threads(iw).gpu_lanes(il)
    total.update.split(i, iw, il, 16).reorder(b, t, iw, il).gpu_threads(iw).gpu_lanes(il)
    total.update.pipeline(t, stages)
    most.store_at(O, b).compute_at(mean.update, t).store_in(registers).reorder_storage(b, n, i)
    most.split(i, iw, il, 16).reorder(b, n, iw, il).gpu_threads(iw).gpu_lanes(il)
    most.update.split(i, iw, il, 16).reorder(b, r, iw, il).gpu_threads(iw).gpu_lanes(il)
    best.compute_at(mean.update, t).store_in(registers).split(i, iw, il, 16).gpu_threads(iw).gpu_lanes(il)
    best.update.split(i, iw, iv, 64).reorder(b, n, iw, iv, u).gpu_threads(iw).atomic().vectorize(iv).vectorize(u)
    sum.compute_at(mean.update, t).store_in(registers).split(i, iw, il, 16).gpu_threads(iw).gpu_lanes(il)
    sum.update.split(i, iw, iv, 64).reorder(b, n, iw, iv, v).gpu_threads(iw).atomic().vectorize(iv).vectorize(v)
    keys.compute_at(mean.update, t).store_in(shared).vectorize(d, 8)
    dot.compute_at(mean.update, t).store_in(wgmma_accumulator)
    dot.split(i, iw, iv, 64).reorder(b, n, iw, iv, l).gpu_threads(iw).vectorize(iv).vectorize(l)
    dot.update.split(d, dt, dv, 16).split(i, iw, iv, 64).reorder(b, n, iw, dt, iv, l, dv).gpu_threads(iw).unroll(dt)
    dot.update.atomic().vectorize(iv).vectorize(l).vectorize(dv)
    score.compute_at(mean.update, t).store_in(wgmma_accumulator)
    score.split(i, iw, iv, 64).reorder(b, n, iw, iv, l).gpu_threads(iw).vectorize(iv).vectorize(l)
    power.compute_at(mean.update, t).store_in(wgmma_accumulator)
    power.split(i, iw, iv, 64).reorder(b, n, iw, iv, l).gpu_threads(iw).vectorize(iv).vectorize(l)
    weight.compute_at(mean.update, t).store_in(wgmma_accumulator)
    weight.split(i, iw, iv, 64).reorder(b, n, iw, iv, l).gpu_threads(iw).vectorize(iv).vectorize(l)
    values.compute_at(mean.update, t).store_in(shared).vectorize(e, 8)
    part.compute_at(mean.update, t).store_in(wgmma_accumulator)
    part.split(i, iw, iv, 64).reorder(b, n, iw, iv, e).gpu_threads(iw).vectorize(iv).vectorize(e)
    part.update.split(i, iw, iv, 64).reorder(b, n, iw, iv, e, j).gpu_threads(iw)
    part.update.atomic().vectorize(iv).vectorize(e).vectorize(j)
}

# By WMMA each of four warps has 16 queries, and scores and their weights go through shared memory, those of a warp
# for itself. D = 128 takes 114 KB of it: not on sm_86, sm_89.
schedule wmma for cuda {
    O.split(i, io, ii, 64, tail = guard).split(ii, iw, iv, 16).split(e, et, ev, 16).reorder(io, b, iw, et, iv, ev)
    O.gpu_blocks(io, b).at_once(2).gpu_threads(iw).unroll(et).vectorize(iv).vectorize(ev)
    Q.in(dot).compute_at(O, b).store_in(shared).pad_storage(d, D + 8).vectorize(d, 8)
    new.compute_at(O, b).store_in(shared).split(i, iw, il, 16).gpu_threads(iw).gpu_lanes(il)
    mean.compute_at(O, b).store_in(wmma_accumulator)
    mean.split(i, iw, iv, 16).split(e, et, ev, 16).reorder(b, iw, et, iv, ev).gpu_threads(iw)
    mean.unroll(et).vectorize(iv).vectorize(ev)
    mean.update.split(i, iw, iv, 16).split(e, et, ev, 16).reorder(b, t, iw, et, iv, ev).gpu_threads(iw)
    mean.update.unroll(et).vectorize(iv).vectorize(ev).pipeline(t, 2)
    less.compute_at(mean.update, t).store_in(shared).split(i, iw, il, 16).gpu_threads(iw).gpu_lanes(il)
    total.compute_at(O, b).store_in(shared).split(i, iw, il, 16).gpu_threads(iw).gpu_lanes(il)
    total.update.split(i, iw, il, 16).reorder(b, t, iw, il).gpu_threads(iw).gpu_lanes(il)
    total.update.pipeline(t, 2).compute_with(mean.update, t)
    most.store_at(O, b).compute_at(mean.update, t).store_in(shared).reorder_storage(b, n, i)
    most.split(i, iw, il, 16).reorder(b, n, iw, il).gpu_threads(iw).gpu_lanes(il)
    most.update.split(i, iw, il, 16).reorder(b, r, iw, il).gpu_threads(iw).gpu_lanes(il)
    best.compute_at(mean.update, t).store_in(shared).gpu_threads(i)
    best.update.split(u, h, w, 32).rfactor(h, c).reorder(b, n, i, h).gpu_threads(i)
    best_c.compute_at(mean.update, t).store_in(shared).reorder_storage(b, n, c, i)
    best_c.reorder(b, n, i, c).gpu_threads(i, c)
    best_c.update.reorder(b, n, i, c, w).gpu_threads(i, c)
    sum.compute_at(mean.update, t).store_in(shared).gpu_threads(i)
    sum.update.split(v, h, w, 32).rfactor(h, c).reorder(b, n, i, h).gpu_threads(i)
    sum_c.compute_at(mean.update, t).store_in(shared).reorder_storage(b, n, c, i)
    sum_c.reorder(b, n, i, c).gpu_threads(i, c)
    sum_c.update.reorder(b, n, i, c, w).gpu_threads(i, c)
    keys.compute_at(mean.update, t).store_in(shared).pad_storage(d, D + 8).vectorize(d, 8)
    dot.compute_at(mean.update, t).store_in(wmma_accumulator)
    dot.split(i, iw, iv, 16).split(l, lt, lv, 16).reorder(b, n, iw, lt, iv, lv).gpu_threads(iw)
    dot.unroll(lt).vectorize(iv).vectorize(lv)
    dot.update.split(d, dt, dv, 16).split(i, iw, iv, 16).split(l, lt, lv, 16)
    dot.update.reorder(b, n, iw, dt, lt, iv, lv, dv).gpu_threads(iw).unroll(lt)
    dot.update.atomic().vectorize(iv).vectorize(lv).vectorize(dv)
    copy.compute_at(mean.update, t).store_in(shared).pad_storage(l, 68)
    copy.split(i, iw, iv, 16).split(l, lt, lv, 16).reorder(b, n, iw, lt, iv, lv).gpu_threads(iw)
    copy.unroll(lt).vectorize(iv).vectorize(lv)
    weight.compute_at(mean.update, t).store_in(shared).pad_storage(l, 72)
    weight.split(l, ll, lv, 2).split(i, iw, iv, 16).reorder(b, n, iv, iw, ll, lv)
    weight.gpu_threads(iw).gpu_lanes(ll).vectorize(lv)
    values.compute_at(mean.update, t).store_in(shared).pad_storage(e, D + 8).vectorize(e, 8)
    part.compute_at(mean.update, t).store_in(wmma_accumulator)
    part.split(i, iw, iv, 16).split(e, et, ev, 16).reorder(b, n, iw, et, iv, ev).gpu_threads(iw)
    part.unroll(et).vectorize(iv).vectorize(ev)
    part.update.split(j, jt, jv, 16).split(i, iw, iv, 16).split(e, et, ev, 16)
    part.update.reorder(b, n, iw, jt, et, iv, ev, jv).gpu_threads(iw).unroll(et)
    part.update.atomic().vectorize(iv).vectorize(ev).vectorize(jv)
}

# CUDA cores. The same blocks; a thread makes 4 x 4 scores, and 4 x D / 16 means, in registers.
schedule simt for cuda {
    O.split(i, io, ii, 64, tail = guard).split(ii, it, iv, 4).split(e, ev, et, 16)
    O.reorder(io, b, it, et, iv, ev).gpu_blocks(io, b).gpu_threads(it, et).unroll(iv).unroll(ev)
    Q.in(dot).compute_at(O, b).store_in(shared).pad_storage(d, D + 2)
    new.compute_at(O, b).store_in(shared).gpu_threads(i)
    mean.compute_at(O, b).store_in(registers)
    mean.split(i, it, iv, 4).split(e, ev, et, 16).reorder(b, it, et, iv, ev).gpu_threads(it, et)
    mean.unroll(iv).unroll(ev)
    mean.update.split(i, it, iv, 4).split(e, ev, et, 16).reorder(b, t, it, et, iv, ev).gpu_threads(it, et)
    mean.update.unroll(iv).unroll(ev)
    less.compute_at(mean.update, t).store_in(shared).gpu_threads(i)
    total.compute_at(O, b).store_in(shared).gpu_threads(i)
    total.update.reorder(b, t, i).gpu_threads(i).compute_with(mean.update, t)
    most.store_at(O, b).compute_at(mean.update, t).store_in(shared).reorder_storage(b, n, i)
    most.reorder(b, n, i).gpu_threads(i)
    most.update.reorder(b, r, i).gpu_threads(i)
    best.compute_at(mean.update, t).store_in(shared).gpu_threads(i)
    best.update.split(u, h, w, 32).rfactor(h, c).reorder(b, n, i, h).gpu_threads(i)
    best_c.compute_at(mean.update, t).store_in(shared).reorder_storage(b, n, c, i)
    best_c.reorder(b, n, i, c).gpu_threads(i, c)
    best_c.update.reorder(b, n, i, c, w).gpu_threads(i, c)
    sum.compute_at(mean.update, t).store_in(shared).gpu_threads(i)
    sum.update.split(v, h, w, 32).rfactor(h, c).reorder(b, n, i, h).gpu_threads(i)
    sum_c.compute_at(mean.update, t).store_in(shared).reorder_storage(b, n, c, i)
    sum_c.reorder(b, n, i, c).gpu_threads(i, c)
    sum_c.update.reorder(b, n, i, c, w).gpu_threads(i, c)
    keys.compute_at(mean.update, t).store_in(shared).pad_storage(d, D + 2)
    copy.compute_at(mean.update, t).store_in(shared).pad_storage(l, 66)
    copy.split(i, it, iv, 4).split(l, lv, lt, 16).reorder(b, n, it, lt, iv, lv).gpu_threads(it, lt)
    copy.unroll(iv).unroll(lv)
    dot.compute_at(copy, lt).store_in(registers).unroll(i).unroll(l)
    dot.update.reorder(b, n, d, i, l).unroll(i).unroll(l)
    weight.compute_at(mean.update, t).store_in(shared).pad_storage(l, 66)
    weight.split(i, it, iv, 4).split(l, lv, lt, 16).reorder(b, n, it, lt, iv, lv).gpu_threads(it, lt)
    weight.unroll(iv).unroll(lv)
    values.compute_at(mean.update, t).store_in(shared)
    part.compute_at(mean.update, t).store_in(registers)
    part.split(i, it, iv, 4).split(e, ev, et, 16).reorder(b, n, it, et, iv, ev).gpu_threads(it, et)
    part.unroll(iv).unroll(ev)
    part.update.split(i, it, iv, 4).split(e, ev, et, 16).reorder(b, n, it, et, j, iv, ev).gpu_threads(it, et)
    part.update.unroll(iv).unroll(ev)
}

example { B = 2; L = 128; Q = random(1, -1, 1); K = random(2, -1, 1); V = random(3, -1, 1) }
