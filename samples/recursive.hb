# Second-order recursive filter of a stereo recording, samples interleaved.
#
#     y[t] = x[t] + a y[t - 1] + b y[t - 2],   y[t] = 0 for t < 0
#
# Each step waits for the one before. The term in y[t - 1] is added last, so that the chain through
# the whole recording is one multiply-add per sample; both channels run side by side.

size   N
param  a: f32 = 1.8
param  b: f32 = -0.9
input  X: f32[N, 2]
output Y: f32[N, 2]

reduce t in 2 .. N
Y[i, c] = X[i, c] + select(i == 1, a * X[0, c], 0)
Y[t, c] = (X[t, c] + b * Y[t - 2, c]) + a * Y[t - 1, c]

schedule portable for c {
    Y.unroll(c)
    Y.update.reorder(t, c).unroll(c).unroll(t, 4)
}

schedule fast for avx512, avx2 {
    Y.fuse(i, c, ic).vectorize(ic, 16)
    Y.update.reorder(t, c).unroll(c).unroll(t, 8)
}

example       { N = 2_097_152; X = random(1, -1, 1) }
example sound { X = file("data/chirp.wav") }
