# After how many steps of z -> z^2 + c the point c of a window of the plane is farther than 2 from 0; `steps` at most.
size   H, W
param  steps: i32 = 64
input  left: f32
input  top: f32
input  pitch: f32
output count: i32[H, W]

reduce t in steps
cx[x] = left + f32(x) * pitch
cy[y] = top - f32(y) * pitch
(n[y, x], re[y, x], im[y, x]) = (0, 0.0, 0.0)
(n[y, x], re[y, x], im[y, x]) = (n[y, x] + 1, re[y, x] * re[y, x] - im[y, x] * im[y, x] + cx[x],
    2 * re[y, x] * im[y, x] + cy[y])
    while t: re[y, x] * re[y, x] + im[y, x] * im[y, x] <= 4
count[y, x] = n[y, x]

# Points of a vector or two step together, in registers, until all of them have left.
schedule lanes for c, avx2, avx512, arm_dot {
    count.parallel(y).split(x, xo, xi, 32, tail = shift).vectorize(xi, 16).unroll(xi)
    n.compute_at(count, xo).vectorize(x, 16).unroll(x)
    n.update.reorder(y, t, x).vectorize(x, 16).unroll(x)
    cx.compute_root().vectorize(x, 16)
}

example { W = 640; H = 480; left = -2; top = 1.2; pitch = 0.005 }
