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
(count[y, x], re[y, x], im[y, x]) = (0, 0.0, 0.0)
(count[y, x], re[y, x], im[y, x]) = (count[y, x] + 1, re[y, x] * re[y, x] - im[y, x] * im[y, x] + cx[x],
    2 * re[y, x] * im[y, x] + cy[y])
    while t: re[y, x] * re[y, x] + im[y, x] * im[y, x] <= 4

schedule lanes for c, avx2, avx512, arm_dot {
    count.vectorize(x, 16)
    count.update.split(x, xo, xi, 16).reorder(y, xo, t, xi).vectorize(xi).parallel(y)
}

example { W = 640; H = 480; left = -2; top = 1.2; pitch = 0.005 }
