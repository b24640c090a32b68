# RISC-V: vectors (the extension V, version 1.0) in registers of at least so many bits (Zvl256b, Zvl512b).
# Probes: the bit of the auxiliary vector's AT_HWCAP, as in Linux' asm/hwcap.h (letters count from A), and the bits of
# a register, which the control register vlenb says (RISC-V "V" Vector Extension, version 1.0, section 3.6).

feature rvv     { machine riscv64; cpuinfo "v";       flag ""; probe { leaf 128; bit 21 } }
feature zvl256b { machine riscv64; cpuinfo "zvl256b"; flag ""; probe { leaf 256; bit 21 } }
feature zvl512b { machine riscv64; cpuinfo "zvl512b"; flag ""; probe { leaf 512; bit 21 } }
