size   H, W
input  A: f32[H, W]
output O: f32[H, W]
output Q: f32[H, W]
O[y, x] = A[y, x] + 1
Q[y, x] = A[y, x] * 2
schedule s for cuda {
    O.gpu_blocks(y).split(x, xo, xi, 256).gpu_threads(xi)
    Q.gpu_blocks(y).split(x, xo, xi, 256).gpu_threads(xi)
}
