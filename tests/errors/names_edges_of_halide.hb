# Each of Halide's boundary conditions has its name here.
size H, W
input A: f32[H, W]
output C: f32[H, W]
P = repeat_edge(A)
Q = constant_exterior(A)
R = repeat_image(A)
C[y, x] = P[y, x - 1] + Q[y, x + 1] + R[y - 1, x] + mirror_image(A)[y + 1, x]
