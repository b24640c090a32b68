# Second-order recursive filter of a stereo recording, samples interleaved.
#
#     y[t] = x[t] + a y[t - 1] + b y[t - 2],   y[t] = 0 for t < 0
#
# Each step waits for the one before. Looking ahead shortens the chain: the filter is
# 1 / (1 - a z - b z^2) in z, the delay by one sample, and both sides times 1 + a z - b z^2 leave
#
#     (1 + a z - b z^2) / (1 - p z^2 + q z^4),   p = a^2 + 2 b,   q = b^2
#
# which looks back two samples at a time. Three such steps, each with the p and q of the one before
# as its a and -b, look back eight at a time, so that eight samples of both channels need not wait
# for each other; the products on the left are short filters that do not wait at all. The first
# sixteen samples are made by the definition.
#
# Close to its resonance the filter makes sounds louder, up to 32 times; `gain` is what its input is
# multiplied with:
#
#     hbc run recursive.hb --example sound --set gain=0.05 --output Y=filtered.wav

size   N
param  a: f32 = 1.8
param  b: f32 = -0.9
param  gain: f32 = 1
input  X: f32[N, 2]
output Y: f32[N, 2]

# p and q after one, two and three steps.
table p: f32[3] [k] = let p0 = a * a + 2 * b in let p1 = p0 * p0 - 2 * b * b in
    select(k == 0, p0, select(k == 1, p1, p1 * p1 - 2 * b * b * b * b))
table q: f32[3] [k] = let b2 = b * b in let b4 = b2 * b2 in
    select(k == 0, b2, select(k == 1, b4, b4 * b4))

reduce s in 2 .. 16, t in 16 .. N
x[i, c]  = gain * X[i, c]
f1[i, c] = x[i, c] + a * x[i - 1, c] - b * x[i - 2, c]
f2[i, c] = f1[i, c] + p[0] * f1[i - 2, c] + q[0] * f1[i - 4, c]
f3[i, c] = f2[i, c] + p[1] * f2[i - 4, c] + q[1] * f2[i - 8, c]
Y[i, c]  = x[i, c] + select(i == 1, a * gain * X[0, c], 0)
Y[s, c]  = (x[s, c] + b * Y[s - 2, c]) + a * Y[s - 1, c] where s < N
Y[t, c]  = (f3[t, c] - q[2] * Y[t - 16, c]) + p[2] * Y[t - 8, c]

# Blocks of 256 samples, whose filtered values stay in the cache.
schedule portable for c {
    Y.update(1).split(t, to, ti, 256).reorder(to, ti, c).unroll(c).unroll(ti, 8)
    f1.compute_at(Y.update(1), to)
    f2.compute_at(Y.update(1), to)
}

schedule fast for avx512, avx2 {
    Y.update(1).split(t, to, tb, 256).split(tb, tb, ti, 8)
    Y.update(1).reorder(to, tb, ti, c).vectorize(ti).vectorize(c)
    f1.compute_at(Y.update(1), to).fuse(i, c, ic).vectorize(ic, 16)
    f2.compute_at(Y.update(1), to).fuse(i, c, ic).vectorize(ic, 16)
}

example { N = 2_097_152; X = random(1, -1, 1) }
example sound { X = file("data/chirp.wav") }
