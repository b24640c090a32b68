# Broke: the oracle: 0 times a product too large for f32 is NaN only in some order.
# sizes: W=40 target: c fixed: 0 seed: 0
size W
input B: f32[1]
output f: f32[3]
reduce r in W
f[x] = 0.0
f[x] *= (abs(B[0]) + 1.0) * f32(r + 1)
