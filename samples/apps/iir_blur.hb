# A blur by recursion along the columns, down and up again: y[t] = a x[t] + (1 - a) y[t - 1].
size   H, W
input  A: f32[H, W]
input  a: f32
output O: f32[H, W]
require 1 <= H

reduce r in 1 .. H, q in 1 .. H
O[y, x]         = A[y, x]
O[r, x]         = a * A[r, x] + (1 - a) * O[r - 1, x]
O[H - 1 - q, x] = a * O[H - 1 - q, x] + (1 - a) * O[H - q, x]

# Row after row, each as far as 128 vectors: memory is read as it lies, where strips of few columns touch
# another page in each row. Threads have columns of their own.
schedule columns for c, avx2, avx512, arm_dot {
    O.vectorize(x, 16).parallel(y)
    O.update.vectorize(x, 16).split(x, xo, xi, 128).reorder(xo, r, xi).parallel(xo)
    O.update(1).vectorize(x, 16).split(x, xo, xi, 128).reorder(xo, q, xi).parallel(xo)
}

example { W = 1536; H = 1024; A = random(1); a = 0.5 }
