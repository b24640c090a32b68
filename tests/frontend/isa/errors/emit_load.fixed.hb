place p { machine x86_64; memory registers; count 8; row_bytes 16; header "x.h"
    load "fill({register}, {pointer});"; store "spill({register}, {pointer});" }
