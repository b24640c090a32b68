# Neural networks: activations, norms of rows, quantised arithmetic. `import "std/ml.hb"`

def relu(x)          = max(x, 0)
def leaky_relu(x, a) = select(x < 0, a * x, x)
def relu6(x)         = clamp(x, 0, 6)
def sigmoid(x)       = 0.5 * tanh(0.5 * x) + 0.5
def silu(x)          = x * sigmoid(x)
def hard_sigmoid(x)  = clamp(x / 6 + 0.5, 0, 1)
def hard_swish(x)    = x * hard_sigmoid(x)
# By tanh, as transformers have it (Hendrycks and Gimpel, arXiv 1606.08415).
def gelu(x) = 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))
# log(1 + exp(x)), which does not overflow.
def softplus(x) = max(x, 0) + log(1 + exp(-abs(x)))

# Over the N columns of row i.
def row_sum(f, i, N)         = sum(c in 0 .. N: f[i, c])
def row_mean(f, i, N)        = row_sum(f, i, N) / f32(N)
def row_max(f, i, N)         = max(c in 0 .. N: f[i, c])
def row_variance(f, m, i, N) = sum(c in 0 .. N: (f[i, c] - m[i]) * (f[i, c] - m[i])) / f32(N)
def mean_square(f, i, N)     = sum(c in 0 .. N: f[i, c] * f[i, c]) / f32(N)

# A 32-bit sum as a byte: scaled, rounded to the nearest, moved by the zero point, saturated.
def requantised_u8(acc, scale, zero) = u8(clamp(round(f32(acc) * scale) + f32(zero), 0, 255))
def requantised_i8(acc, scale, zero) = i8(clamp(round(f32(acc) * scale) + f32(zero), -128, 127))
# A byte as a float, and back.
def dequantised(q, scale, zero)  = (f32(q) - f32(zero)) * scale
def quantised_u8(x, scale, zero) = u8(clamp(round(x / scale) + f32(zero), 0, 255))
def quantised_i8(x, scale, zero) = i8(clamp(round(x / scale) + f32(zero), -128, 127))
