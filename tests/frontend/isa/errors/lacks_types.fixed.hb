place p { machine x86_64; memory registers; count 8; row_bytes 16; header "x.h"; types { int "__m512i" } }
