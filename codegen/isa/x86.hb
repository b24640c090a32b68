# x86-64: features, register files and targets that the other files of x86 instructions use.
# Probes: CPUID's leaf, subleaf, register and bit (Intel SDM vol. 2A, CPUID). xcr0: the state that the
# system must save (vol. 1, 13.3); permission: what Linux wants to be asked for by arch_prctl.
# emulated: the bit of hbc_amx_emulated() (templates/amx_probe.h).

feature avx2       { machine x86_64; cpuinfo "avx2";        flag "-mavx2"
                     probe { leaf 7; register ebx; bit 5 }; xcr0 0x6 }
feature fma        { machine x86_64; cpuinfo "fma";         flag "-mfma"
                     probe { leaf 1; register ecx; bit 12 }; xcr0 0x6 }
feature f16c       { machine x86_64; cpuinfo "f16c";        flag "-mf16c"
                     probe { leaf 1; register ecx; bit 29 }; xcr0 0x6 }
feature bmi2       { machine x86_64; cpuinfo "bmi2";        flag "-mbmi2"
                     probe { leaf 7; register ebx; bit 8 } }
feature avxvnni    { machine x86_64; cpuinfo "avx_vnni";    flag "-mavxvnni"
                     probe { leaf 7; subleaf 1; register eax; bit 4 }; xcr0 0x6 }
feature avx512f    { machine x86_64; cpuinfo "avx512f";     flag "-mavx512f"
                     probe { leaf 7; register ebx; bit 16 }; xcr0 0xe6 }
feature avx512bw   { machine x86_64; cpuinfo "avx512bw";    flag "-mavx512bw"
                     probe { leaf 7; register ebx; bit 30 }; xcr0 0xe6 }
feature avx512dq   { machine x86_64; cpuinfo "avx512dq";    flag "-mavx512dq"
                     probe { leaf 7; register ebx; bit 17 }; xcr0 0xe6 }
feature avx512vl   { machine x86_64; cpuinfo "avx512vl";    flag "-mavx512vl"
                     probe { leaf 7; register ebx; bit 31 }; xcr0 0xe6 }
feature avx512vbmi { machine x86_64; cpuinfo "avx512vbmi";  flag "-mavx512vbmi"
                     probe { leaf 7; register ecx; bit 1 }; xcr0 0xe6 }
feature avx512vnni { machine x86_64; cpuinfo "avx512_vnni"; flag "-mavx512vnni"
                     probe { leaf 7; register ecx; bit 11 }; xcr0 0xe6 }
feature avx512bf16 { machine x86_64; cpuinfo "avx512_bf16"; flag "-mavx512bf16"
                     probe { leaf 7; subleaf 1; register eax; bit 5 }; xcr0 0xe6 }
feature amx_tile   { machine x86_64; cpuinfo "amx_tile";    flag "-mamx-tile"
                     probe { leaf 7; register edx; bit 24 }; xcr0 0x60000; permission 18; emulated 1 }
feature amx_int8   { machine x86_64; cpuinfo "amx_int8";    flag "-mamx-int8"
                     probe { leaf 7; register edx; bit 25 }; xcr0 0x60000; permission 18; emulated 2 }
feature amx_bf16   { machine x86_64; cpuinfo "amx_bf16";    flag "-mamx-bf16"
                     probe { leaf 7; register edx; bit 22 }; xcr0 0x60000; permission 18; emulated 4 }
# The wrapper of codegen/templates/amx_intrinsics.h spells the instruction as bytes: no compiler flag.
feature amx_fp16   { machine x86_64; cpuinfo "amx_fp16";    flag ""
                     probe { leaf 7; subleaf 1; register eax; bit 21 }; xcr0 0x60000; permission 18; emulated 8 }

place xmm { machine x86_64; memory registers; count 16; row_bytes 16; header "immintrin.h"
            types { int "__m128i"; f32 "__m128"; bf16 "__m128bh" }; constraint "x" }
place ymm { machine x86_64; memory registers; count 16; row_bytes 32; header "immintrin.h"
            types { int "__m256i"; f32 "__m256"; bf16 "__m256bh" }; constraint "x" }
# Registers 16 to 31 want EVEX encodings: AVX-512 VL for the short ones.
place xmm_evex { machine x86_64; memory registers; count 32; row_bytes 16; header "immintrin.h"
                 types { int "__m128i"; f32 "__m128"; bf16 "__m128bh" }; constraint "v" }
place ymm_evex { machine x86_64; memory registers; count 32; row_bytes 32; header "immintrin.h"
                 types { int "__m256i"; f32 "__m256"; bf16 "__m256bh" }; constraint "v" }
place zmm { machine x86_64; memory registers; count 32; row_bytes 64; header "immintrin.h"
            types { int "__m512i"; f32 "__m512"; bf16 "__m512bh" }; constraint "v" }

# Tile registers are numbers known at compile time; a tile's rows may lie apart in memory.
place amx_tile { machine x86_64; memory amx_tile; count 8; rows 16; row_bytes 64; header "immintrin.h"
                 load  "_tile_loadd({register}, {pointer}, {stride});"
                 store "_tile_stored({register}, {pointer}, {stride});"
                 stream "_tile_stream_loadd({register}, {pointer}, {stride});" }

target avx512     "AVX-512 in f32" uses avx512f, avx512vl
target avx512vnni "AVX-512 with dot products of bytes and 16-bit integers"
    uses avx512f, avx512vl, avx512vnni
target avx512bf16 "AVX-512 with dot products of bf16" uses avx512f, avx512vl, avx512bf16
target avxvnni    "AVX2 with dot products of bytes and 16-bit integers" uses avx2, fma, avxvnni
target avx2       "AVX2 in f32" uses avx2, fma
target amx        "AMX tiles" uses avx512f, avx512vl, amx_tile, amx_int8, amx_bf16, amx_fp16
