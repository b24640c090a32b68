# European options by Black and Scholes: what a call and a put are worth.
import "std/math.hb"

size   N
input  price: f32[N]
input  strike: f32[N]
input  years: f32[N]
input  rate: f32
input  volatility: f32
output call: f32[N]
output put: f32[N]

# Within 2e-7: of Abramowitz and Stegun 7.1.28, with its factors of sqrt(0.5).
def beyond(x) = let t = 1 + x * (0.0498673470 + x * (0.0211410061 + x * (0.0032776263 + x * (0.0000380036 + x * (0.0000488906 + x * 0.0000053830))))) in
    let t2 = t * t in let t4 = t2 * t2 in let t8 = t4 * t4 in 0.5 / (t8 * t8)
def normal(x) = let b = beyond(abs(x)) in select(x < 0, b, 1 - b)

spread[i] = volatility * sqrt(years[i])
d[i]      = (log(price[i] / strike[i]) + (rate + volatility * volatility / 2) * years[i]) / spread[i]
later[i]  = strike[i] * exp(-rate * years[i])
call[i]   = price[i] * normal(d[i]) - later[i] * normal(d[i] - spread[i])
put[i]    = later[i] * normal(spread[i] - d[i]) - price[i] * normal(-d[i])

schedule lanes for c, avx2, avx512, arm_dot {
    call.parallel(i, 4096).vectorize(i_p, 16)
    put.parallel(i, 4096).vectorize(i_p, 16).compute_with(call, i_p)
}

example {
    N = 1000000; rate = 0.02; volatility = 0.3
    price = random(1, 5, 30); strike = random(2, 1, 100); years = random(3, 0.25, 10)
}
