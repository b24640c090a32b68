# Images: edges of Funcs, resampling, colour. `import "std/image.hb"`

# A Func outside of [0, H) x [0, W): its nearest value, zero, its reflection, its repetition.
def clamped(f, H, W)[y, x]      = f[clamp(y, 0, H - 1), clamp(x, 0, W - 1)]
def zero_outside(f, H, W)[y, x] =
    select(y >= 0 and y < H and x >= 0 and x < W, f[clamp(y, 0, H - 1), clamp(x, 0, W - 1)], 0)
def reflected(f, H, W)[y, x] =
    f[min(y % (2 * H), 2 * H - 1 - y % (2 * H)), min(x % (2 * W), 2 * W - 1 - x % (2 * W))]
def repeated(f, H, W)[y, x] = f[y % H, x % W]

# Binomial blurs, separable: weights 1 2 1 and 1 4 6 4 1.
def blur3_x(f)[y, x] = (f[y, x - 1] + 2 * f[y, x] + f[y, x + 1]) / 4
def blur3_y(f)[y, x] = (f[y - 1, x] + 2 * f[y, x] + f[y + 1, x]) / 4
def blur5_x(f)[y, x] = (f[y, x - 2] + 4 * f[y, x - 1] + 6 * f[y, x] + 4 * f[y, x + 1] + f[y, x + 2]) / 16
def blur5_y(f)[y, x] = (f[y - 2, x] + 4 * f[y - 1, x] + 6 * f[y, x] + 4 * f[y + 1, x] + f[y + 2, x]) / 16

# Half the size by weights 1 3 3 1, and twice the size by 1 3: the pyramids of local Laplacian filters.
def half_x(f)[y, x]  = (f[y, 2 * x - 1] + 3 * (f[y, 2 * x] + f[y, 2 * x + 1]) + f[y, 2 * x + 2]) / 8
def half_y(f)[y, x]  = (f[2 * y - 1, x] + 3 * (f[2 * y, x] + f[2 * y + 1, x]) + f[2 * y + 2, x]) / 8
def half(f)[y, x]    = half_y(half_x(f))[y, x]
def twice_x(f)[y, x] = (f[y, x / 2 - 1 + 2 * (x % 2)] + 3 * f[y, x / 2]) / 4
def twice_y(f)[y, x] = (f[y / 2 - 1 + 2 * (y % 2), x] + 3 * f[y / 2, x]) / 4
def twice(f)[y, x]   = twice_y(twice_x(f))[y, x]

# Derivatives by Sobel's weights.
def sobel_x(f)[y, x] = (f[y - 1, x + 1] - f[y - 1, x - 1]) + 2 * (f[y, x + 1] - f[y, x - 1])
    + (f[y + 1, x + 1] - f[y + 1, x - 1])
def sobel_y(f)[y, x] = (f[y + 1, x - 1] - f[y - 1, x - 1]) + 2 * (f[y + 1, x] - f[y - 1, x])
    + (f[y + 1, x + 1] - f[y - 1, x + 1])

# Colour, floats 0 .. 1. Luma and colour differences by ITU-R BT.601; the transfer curve of sRGB
# (IEC 61966-2-1).
def luma(r, g, b)            = 0.299 * r + 0.587 * g + 0.114 * b
def blue_difference(r, g, b) = (b - luma(r, g, b)) * 0.5643340857787811
def red_difference(r, g, b)  = (r - luma(r, g, b)) * 0.7132667617689016
def linear_of_srgb(v)        = select(v <= 0.04045, v / 12.92, exp(2.4 * log((max(v, 0.04045) + 0.055) / 1.055)))
def srgb_of_linear(v)        = select(v <= 0.0031308, v * 12.92, 1.055 * exp(log(max(v, 0.0031308)) / 2.4) - 0.055)
