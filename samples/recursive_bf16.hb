# Second-order recursive filter of a stereo recording in bf16, samples interleaved.
#
#     y[t] = x[t] + a y[t - 1] + b y[t - 2],   y[t] = 0 for t < 0
#
# As in `recursive`, looking ahead eight samples. Here the filter on the left is one of 15 taps, rounded
# to bf16. What looks back waits for itself, and stays f32.

size   N
param  a: f32 = 1.8
param  b: f32 = -0.9
input  X: bf16[N, 2]
output Y: f32[N, 2]

table p: f32[3] [k] = let p0 = a * a + 2 * b in let p1 = p0 * p0 - 2 * b * b in
    select(k == 0, p0, select(k == 1, p1, p1 * p1 - 2 * b * b * b * b))
table q: f32[3] [k] = let b2 = b * b in let b4 = b2 * b2 in
    select(k == 0, b2, select(k == 1, b4, b4 * b4))

reduce s in 2 .. 16, t in 16 .. N, r in 15
first[k]  = select(k == 0, 1.0, select(k == 1, a, select(k == 2, -b, 0.0)))
second[k] = first[k] + p[0] * first[k - 2] + q[0] * first[k - 4]
taps[k]   = bf16(second[14 - k] + p[1] * second[10 - k] + q[1] * second[6 - k])
f3[i, c]  = 0
f3[i, c] += f32(taps[r]) * f32(X[i - 14 + r, c])
Y[i, c]   = f32(X[i, c]) + select(i == 1, a * f32(X[0, c]), 0)
Y[s, c]   = (f32(X[s, c]) + b * Y[s - 2, c]) + a * Y[s - 1, c] where s < N
Y[t, c]   = (f3[t, c] - q[2] * Y[t - 16, c]) + p[2] * Y[t - 8, c]

schedule portable for c {
    Y.update(1).split(t, to, ti, 256).reorder(to, ti, c).unroll(c).unroll(ti, 8)
    taps.compute_root()
    f3.compute_at(Y.update(1), to)
    f3.update.reorder(i, r, c)
}

# Eight samples of both channels are a vector; the taps of two samples meet in each lane.
schedule dot for avx512bf16, amx {
    Y.update(1).split(t, to, tb, 256).split(tb, tb, ti, 8)
    Y.update(1).reorder(to, tb, ti, c).vectorize(ti).vectorize(c)
    taps.compute_root()
    f3.compute_at(Y.update(1), tb).store_in(registers).reorder(i, c).vectorize(i, 8).vectorize(c)
    f3.update.reorder(i, c, r).atomic().vectorize(i, 8).vectorize(c).vectorize(r)
}

# The taps as a banded matrix, whose products with 256 samples of a channel are 16 x 16 sums: for
# N that is 16 more than a multiple of 256.
schedule tiles for amx where N % 256 == 16 {
    Y.update(1).split(t, to, tb, 256, tail = exact).split(tb, tb, ti, 8)
    Y.update(1).reorder(to, tb, ti, c).vectorize(ti).vectorize(c)
    taps.compute_root()
    f3.compute_at(Y.update(1), to).store_in(amx_tile).bound(c, 0, 2).reorder_storage(c, i)
    f3.reorder(c, i).unroll(c).vectorize(i)
    f3.update.reorder(c, i, r).unroll(c).atomic().vectorize(i).vectorize(r)
}

example { N = 2_097_168; X = random(1, -1, 1) }
