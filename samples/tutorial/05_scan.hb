# 5. A scan: smooth a sound, each sample from the one before.
#
# `y[t, c]` starts as the input, and the update along `reduce t in 1 .. N` reads its own earlier
# value: y[t] = y[t - 1] + amount (x[t] - y[t - 1]), a low-pass filter. Because each step needs the one
# before, t must run in order: `parallel(t)` or `vectorize(t)` here is an error that says so. But the
# channels of the sound do not depend on each other, so they may run side by side: `reorder` puts the
# loop over c inside the loop over t, and `unroll` writes both channels out.
#
#     hbc run 05_scan.hb --set amount=0.05 --output y=smooth.wav
#
# At 0.05 the high end of the chirp is gone. The example reads a stereo WAV, samples interleaved.

size   N
param  amount: f32 = 0.2
input  x: f32[N, 2]
output y: f32[N, 2]

reduce t in 1 .. N
y[i, c] = x[i, c]
y[t, c] = y[t - 1, c] + amount * (x[t, c] - y[t - 1, c])

schedule portable for c, avx2, avx512 {
    y.unroll(c)
    y.update.reorder(t, c).unroll(c).unroll(t, 4)
}

example { x = file("../data/chirp.wav") }
