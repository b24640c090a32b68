"""Programs of one update, which several tests schedule."""

SUMS = """
size   W, H
input  I: f32[H, W]
output O: f32[H]
reduce r in W
O[y] = 0.0
O[y] += I[y, r]
"""

SCAN = """
size   W, H
input  I: f32[H, W]
output O: f32[H, W]
reduce t in 1 .. W
O[y, x] = I[y, x]
O[y, t] = 0.5 * O[y, t - 1] + I[y, t]
"""
