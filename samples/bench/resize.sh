#!/bin/sh
# resize.sh [IN=2048] [OUT='143 245 450 921']: 3 planes of IN x IN to OUT x OUT by Lanczos.
# shellcheck source=samples/bench/common.sh
. "$(dirname -- "$0")/common.sh"

sizes IN=2048 OUT='143 245 450 921' -- "$@"
for OUT in $OUT; do
    # TH and TW cover the windows of 4 rows and of 16 columns: 9 s + 1 and 21 s + 1, s = IN / OUT.
    TH=$(((9 * IN + OUT - 1) / OUT + 1))
    TW=$(((21 * IN + OUT - 1) / OUT + 1))
    [ "$TH" -le "$IN" ] || TH=$IN
    [ "$TW" -le "$IN" ] || TW=$IN
    compare resize "${IN}x${IN}x3 to ${OUT}x$OUT" \
        "H=$IN W=$IN OH=$OUT OW=$OUT TH=$TH TW=$TW" resize.py "IN=$IN OUT=$OUT CHANNELS=3"
done
table
