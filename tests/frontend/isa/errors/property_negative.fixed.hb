feature swirl { machine x86_64; cpuinfo "swirl"; flag ""; probe { leaf 26; register eax; bit 3 } }
place wide { machine x86_64; memory registers; count 8; row_bytes 64; header "x.h"; types { int "x" } }
