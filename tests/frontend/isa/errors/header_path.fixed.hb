place own { machine x86_64; memory registers; count 16; row_bytes 32; header "immintrin.h"; types { int "__m256i" } }
