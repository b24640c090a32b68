size N
input x: f32[N]
output y: i32[N]
bound from_ in 0 .. N
reduce k in from_[i] .. N
from_[i] = i32(0)
y[i] = from_[i]
y[i] += i32(x[k])
