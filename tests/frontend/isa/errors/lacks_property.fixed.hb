place p { machine x86_64; memory registers; row_bytes 16; count 8; header "x.h"; types { int "__m128i" } }
