# Equalises the histogram of a picture's luma, and keeps its colours.
import "std/image.hb"

size   H, W
input  A: u8[3, H, W]
output O: u8[3, H, W]

reduce y in H, x in W, v in 1 .. 256
Y[y, x]           = luma(f32(A[0, y, x]), f32(A[1, y, x]), f32(A[2, y, x]))
bin[y, x]         = u8(round(clamp(Y[y, x], 0, 255)))
count[b]          = 0
count[bin[y, x]] += 1
total[b]          = count[b]
total[v]         += total[v - 1]
scaled[y, x]      = f32(total[bin[y, x]]) * 255 / f32(H * W)
O[c, y, x]        = u8(round(clamp(f32(A[c, y, x]) - Y[y, x] + scaled[y, x], 0, 255)))

schedule rows for c, avx2, avx512, arm_dot {
    bin.compute_root().vectorize(x, 16).parallel(y)
    O.reorder(y, c, x).vectorize(x, 16).parallel(y)
    scaled.compute_at(O, y).vectorize(x, 16)
}

example { W = 1536; H = 1024; A = random(1) }
