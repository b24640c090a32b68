size N
input x: f32[N]
output y: f32[N]
y[i] = atan2(x[i], x[i]) + lerp(x[i], x[i], 0.5) + cast(x[i])
z[i] = saturating_add(x[i], x[i]) + reduce_add(x[i]) + rounding_halving_add(x[i], x[i])
