feature mine { machine x86_64; cpuinfo "x"; flag ""; probe { leaf 7; register eax; bit 0 } }
