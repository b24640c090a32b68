feature f { machine x86_64; cpuinfo "f"; flag "-mf"; probe { leaf 7; register eax; bit 1 } }
