feature swirl { machine x86_64; cpuinfo "swirl"; flag ""; probe { leaf 26; register eax; bit 60 } }
