feature swirl { machine cuda; cpuinfo "swirl"; flag ""; probe { leaf 26; bit 60 } }
