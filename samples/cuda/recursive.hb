# Second-order recursive filter of a stereo recording of half floats, samples interleaved, for NVIDIA's GPUs.
#
#     y[t] = x[t] + a y[t - 1] + b y[t - 2],   y[t] = 0 for t < 0
#
# As in `recursive`, looking ahead eight samples: f is a filter of 15 taps, rounded to f16, and
# y[t] = f[t] + p y[t - 8] - q y[t - 16], so that eight samples of both channels need not wait for each
# other. Neither do blocks of 2048 samples, in two rounds: what a block ends with after silence; from that,
# block after block, what each one does end with; then all of them again, each from where the one before
# ends. Reading X twice is less than keeping what was made of it.

size   N
param  a: f32 = 1.8
param  b: f32 = -0.9
input  X: f16[N, 2]
output Y: f32[N, 2]

# p and q after looking ahead 2, 4 and 8 samples.
table p: f64[3] [k] = let p0 = f64(a * a + 2 * b) in let p1 = p0 * p0 - 2 * f64(b * b) in
    select(k == 0, p0, select(k == 1, p1, p1 * p1 - 2 * f64(b * b * b * b)))
table q: f64[3] [k] = let b2 = f64(b * b) in let b4 = b2 * b2 in
    select(k == 0, b2, select(k == 1, b4, b4 * b4))

# The taps, that of the longest delay first; first[12] and second[8] are those of no delay.
table first: f64[29] [k] = select(k == 12, 1.0, select(k == 13, f64(a), select(k == 14, f64(-b), 0.0)))
table second: f64[25] [k] = first[k + 4] + p[0] * first[k + 2] + q[0] * first[k]
table taps: f16[17] [r] = f16(f32(second[24 - r] + p[1] * second[20 - r] + q[1] * second[16 - r]))

# What eight samples make of the two that they look back to, and 16, 32, .. 2048 of them.
table m8: f64[2, 2] [s, t] = select(s == 1, f64(1 - t), select(t == 0, p[2], -q[2]))
table m16: f64[2, 2] [s, t] = m8[s, 0] * m8[0, t] + m8[s, 1] * m8[1, t]
table m32: f64[2, 2] [s, t] = m16[s, 0] * m16[0, t] + m16[s, 1] * m16[1, t]
table m64: f64[2, 2] [s, t] = m32[s, 0] * m32[0, t] + m32[s, 1] * m32[1, t]
table m128: f64[2, 2] [s, t] = m64[s, 0] * m64[0, t] + m64[s, 1] * m64[1, t]
table m256: f64[2, 2] [s, t] = m128[s, 0] * m128[0, t] + m128[s, 1] * m128[1, t]
table m512: f64[2, 2] [s, t] = m256[s, 0] * m256[0, t] + m256[s, 1] * m256[1, t]
table m1024: f64[2, 2] [s, t] = m512[s, 0] * m512[0, t] + m512[s, 1] * m512[1, t]
table m: f64[2, 2] [s, t] = m1024[s, 0] * m1024[0, t] + m1024[s, 1] * m1024[1, t]
table back: f32[2] [s] = f32(select(s == 0, p[2], -q[2]))
table far: f32[2] [s] = f32(select(s == 0, m[0, 0] + m[1, 1], m[0, 1] * m[1, 0] - m[0, 0] * m[1, 1]))
table own: f32[2] [s] = f32(-m[1 - s, 1 - s])
table other: f32[2] [s] = f32(m[s, 1 - s])

P = zero_edge(X)
reduce r0 in 17, r1 in 17, j0 in 2 .. 256, j1 in 2 .. 256, t in 2 .. (N + 2047) / 2048 + 2

# Sample 8 j + u of block k, after silence.
near0[i, c]        = P[i - 16, c]
ahead0[i, c]       = 0
ahead0[i, c]      += f32(taps[r0]) * f32(near0[i + r0, c])
alone[k, j, u, c]  = ahead0[2048 * k + 8 * j + u, c]
alone[k, 1, u, c] += back[0] * alone[k, 0, u, c]
alone[k, j0, u, c] = (alone[k, j0, u, c] + back[1] * alone[k, j0 - 2, u, c]) + back[0] * alone[k, j0 - 1, u, c]

# The last eight samples of block k - 2, s = 0, and those before them: after silence, and in truth.
last[k, s, u, c] = alone[k, 255 - s, u, c]
start[k, s, u, c] = select(k >= 3, (last[max(k - 2, 0), s, u, c] + own[s] * last[max(k - 3, 0), s, u, c])
    + other[s] * last[max(k - 3, 0), 1 - s, u, c],
    select(k == 2, last[0, s, u, c], 0))
ends[k, s, u, c] = start[k, s, u, c]
ends[t, s, u, c] = (start[t, s, u, c] + far[1] * ends[t - 2, s, u, c]) + far[0] * ends[t - 1, s, u, c]

near1[i, c]      = P[i - 16, c]
ahead1[i, c]     = 0
ahead1[i, c]    += f32(taps[r1]) * f32(near1[i + r1, c])
all[k, j, u, c]  = ahead1[2048 * k + 8 * j + u, c]
all[k, 0, u, c]  = (all[k, 0, u, c] + back[1] * ends[k + 1, 1, u, c]) + back[0] * ends[k + 1, 0, u, c]
all[k, 1, u, c]  = (all[k, 1, u, c] + back[1] * ends[k + 1, 0, u, c]) + back[0] * all[k, 0, u, c]
all[k, j1, u, c] = (all[k, j1, u, c] + back[1] * all[k, j1 - 2, u, c]) + back[0] * all[k, j1 - 1, u, c]
Y[i, c]          = all[i / 2048, i % 2048 / 8, i % 8, c]

schedule wmma for cuda {
    last.compute_root().bound(s, 0, 2).bound(u, 0, 8).bound(c, 0, 2)
    last.gpu_blocks(k).gpu_threads(s, u, c)
    near0.compute_at(last, k).store_in(shared).bound(c, 0, 2).reorder_storage(c, i)
    alone.compute_at(last, k).store_in(shared).bound(j, 0, 256).bound(u, 0, 8).bound(c, 0, 2)
    alone.reorder_storage(k, c, j, u).split(j, jo, ji, 32).reorder(k, jo, c, ji, u).gpu_threads(jo)
    alone.vectorize(ji).vectorize(u)
    alone.update(0).gpu_threads(u, c)
    alone.update(1).reorder(k, u, c, j0).gpu_threads(u, c)
    ahead0.compute_at(alone, c).store_in(wmma_accumulator)
    ahead0.vectorize(i)
    ahead0.update.atomic().vectorize(i).vectorize(r0)
    start.compute_root()
    ends.compute_root().bound(s, 0, 2).bound(u, 0, 8).bound(c, 0, 2)
    ends.update.split(u, uo, ui, 8).split(t, to, ti, 16).reorder(uo, s, ui, c, to, ti)
    ends.update.gpu_blocks(uo).gpu_threads(s, ui, c).unroll(ti)

    Y.split(i, k, ii, 2048, tail = guard).split(ii, io, it, 128).reorder(k, it, c, io)
    Y.gpu_blocks(k).gpu_threads(it, c)
    near1.compute_at(Y, k).store_in(shared).bound(c, 0, 2).reorder_storage(c, i)
    all.compute_at(Y, k).store_in(shared).bound(j, 0, 256).bound(u, 0, 8).bound(c, 0, 2)
    all.reorder_storage(k, c, j, u).split(j, jo, ji, 32).reorder(k, jo, c, ji, u).gpu_threads(jo)
    all.vectorize(ji).vectorize(u)
    all.update(0).gpu_threads(u, c)
    all.update(1).gpu_threads(u, c)
    all.update(2).reorder(k, u, c, j1).gpu_threads(u, c)
    ahead1.compute_at(all, c).store_in(wmma_accumulator)
    ahead1.vectorize(i)
    ahead1.update.atomic().vectorize(i).vectorize(r1)
}

# CUDA cores. The same, with the taps in each thread.
schedule simt for cuda {
    last.compute_root().bound(s, 0, 2).bound(u, 0, 8).bound(c, 0, 2)
    last.gpu_blocks(k).gpu_threads(s, u, c)
    near0.compute_at(last, k).store_in(shared).bound(c, 0, 2)
    alone.compute_at(last, k).store_in(shared).bound(j, 0, 256).bound(u, 0, 8).bound(c, 0, 2)
    alone.split(j, jo, ji, 16).reorder(k, jo, ji, u, c).gpu_threads(ji, u, c)
    alone.update(0).gpu_threads(u, c)
    alone.update(1).reorder(k, u, c, j0).gpu_threads(u, c)
    ahead0.compute_at(alone, c).store_in(registers)
    ahead0.update.unroll(r0)
    start.compute_root()
    ends.compute_root().bound(s, 0, 2).bound(u, 0, 8).bound(c, 0, 2)
    ends.update.split(u, uo, ui, 8).split(t, to, ti, 16).reorder(uo, s, ui, c, to, ti)
    ends.update.gpu_blocks(uo).gpu_threads(s, ui, c).unroll(ti)

    Y.split(i, k, ii, 2048, tail = guard).split(ii, io, it, 128).reorder(k, it, c, io)
    Y.gpu_blocks(k).gpu_threads(it, c)
    near1.compute_at(Y, k).store_in(shared).bound(c, 0, 2)
    all.compute_at(Y, k).store_in(shared).bound(j, 0, 256).bound(u, 0, 8).bound(c, 0, 2)
    all.split(j, jo, ji, 16).reorder(k, jo, ji, u, c).gpu_threads(ji, u, c)
    all.update(0).gpu_threads(u, c)
    all.update(1).gpu_threads(u, c)
    all.update(2).reorder(k, u, c, j1).gpu_threads(u, c)
    ahead1.compute_at(all, c).store_in(registers)
    ahead1.update.unroll(r1)
}

example { N = 2_097_152; X = random(1, -1, 1) }
