# Each of Halide's boundary conditions has its name here.
size H, W
input A: f32[H, W]
output C: f32[H, W]
P = clamp_edge(A)
Q = zero_edge(A)
R = wrap(A)
C[y, x] = P[y, x - 1] + Q[y, x + 1] + R[y - 1, x] + mirror(A)[y + 1, x]
