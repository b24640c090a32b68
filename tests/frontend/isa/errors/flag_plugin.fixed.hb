feature swirl { machine x86_64; cpuinfo "swirl"; flag "-mavx2"; probe { leaf 26; register eax; bit 60 } }
