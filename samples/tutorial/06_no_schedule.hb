# 6. No schedule: hbc makes one.
#
# None of the steps before needed its schedule to be right, and none needs one to be fast: where a file
# has no schedule for the target, hbc makes one and says so.
#
#     hbc run 06_no_schedule.hb
#     hbc run 06_no_schedule.hb --schedule none
#
# The second runs plain loops, for comparison. To see what was made, and to go on from there by hand:
#
#     hbc compile 06_no_schedule.hb --emit loops
#     hbc compile 06_no_schedule.hb --write
#
# Here `smooth` is computed for some rows of `O` at a time, so that it stays in the cache, and both in
# vectors. `O` is the picture with what the blur took away added once more.

size   H, W
param  amount: f32 = 1.5
input  I: f32[3, H, W]
output O: f32[3, H, W]

P = clamp_edge(I)
across[c, y, x] = (P[c, y, x - 1] + 2 * P[c, y, x] + P[c, y, x + 1]) / 4
smooth[c, y, x] = (across[c, y - 1, x] + 2 * across[c, y, x] + across[c, y + 1, x]) / 4
O[c, y, x]      = I[c, y, x] + amount * (I[c, y, x] - smooth[c, y, x])

example { I = file("../data/astronaut.png") }
