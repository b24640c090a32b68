# Develops a picture of linear colours: black level, balance of white and exposure are numbers of each call.
import "std/image.hb"

size   H, W
input  A: f32[3, H, W]
input  black: f32
input  exposure: f32
input  red: f32
input  blue: f32
output O: f32[3, H, W]

balance[c]   = select(c == 0, red, select(c == 1, 1, blue))
lit[c, y, x] = max(A[c, y, x] - black, 0) * balance[c] * exposure / (1 - black)
O[c, y, x]   = srgb_of_linear(min(lit[c, y, x], 1))

# A colour at a time, so that its balance is one number.
schedule rows for c, avx2, avx512, arm_dot {
    O.reorder(c, y, x).vectorize(x, 16).parallel(y)
    balance.compute_at(O, c)
}

example { W = 1536; H = 1024; A = random(1); black = 0.03; exposure = 1.5; red = 1.9; blue = 1.6 }
