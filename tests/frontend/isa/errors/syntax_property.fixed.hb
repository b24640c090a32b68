feature f { machine x86_64; cpuinfo "avx2"; flag "-mavx2"; probe { leaf 7; register eax; bit 5 } }
