# 1. A copy.
#
# This is a whole program: it names its sizes, what comes in, what goes out, and what each element of
# the output is. `I: u8[H, W, 3]` is an array of bytes with three dimensions, the last contiguous, as
# NumPy and most picture libraries store a colour photo. H and W are found out from the file.
#
# Run it from this folder on a real photo, and look at the result:
#
#     hbc run 01_copy.hb --output O=copy.png
#
# There is no `schedule`, which says how to compute: hbc makes one, and says so. With `--schedule none` loops
# run plainly, in the order of the indices. `hbc compile 01_copy.hb --emit loops` shows them; leave out
# `--emit loops` and read the C.

size   H, W
input  I: u8[H, W, 3]
output O: u8[H, W, 3]

O[y, x, c] = I[y, x, c]

example { I = file("../data/astronaut.png") }
