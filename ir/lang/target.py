"""Targets: what code is printed for, how wide its vectors are, and the features that processors may lack."""

from __future__ import annotations

from pathlib import Path

from hbc.ir.ground.record import record
from hbc.ir.lang.types import Memory

X86, ARM, RISCV, GPU = "x86_64", "aarch64", "riscv64", "cuda"

_TILES = (
    ("amx", Memory.AMX_TILE), ("wmma", Memory.WMMA), ("mma", Memory.MMA), ("wgmma", Memory.WGMMA),
)  # fmt: skip


@record
class Bit:
    """A bit that says whether the processor has a feature. x86: of `register` after CPUID with this
    leaf and subleaf. ARM: of the auxiliary vector's entry `leaf` (16 AT_HWCAP, 26 AT_HWCAP2). RISC-V: of
    AT_HWCAP, with vector registers of at least `leaf` bits."""

    leaf: int
    bit: int
    subleaf: int = 0
    register: str = ""


@record
class Feature:
    """`cpuinfo` is its name in /proc/cpuinfo, `flag` what the C compiler wants: an option for x86, a
    suffix of -march for ARM. `xcr0`: the bits that the system must have set. `permission`: the
    component that arch_prctl(ARCH_REQ_XCOMP_PERM) must be asked for. `emulated`: the bit, as a number,
    by which `hbc_amx_emulated` says that an emulator in the process stands for it (0: none can)."""

    name: str
    machine: str
    cpuinfo: str
    flag: str
    bit: Bit
    xcr0: int = 0
    permission: int | None = None
    emulated: int = 0


@record
class Target:
    """`vector_bits` 0 means scalar code. `flags` go to the C compiler, with those of the features that
    the instructions in a kernel need. `needs` are CPU feature names as /proc/cpuinfo spells them:
    what any code for the target may use. `falls_back` names the target whose schedules also serve.
    `machine`: whose intrinsics and registers, `X86`, `ARM`, `RISCV` or `GPU`; "" for any.
    `instruction_sets` name the `InstructionTarget`s whose instructions may be selected; `isa` are files
    of the user that describe more."""

    name: str
    vector_bits: int
    flags: tuple[str, ...]
    needs: tuple[str, ...]
    falls_back: str | None
    about: str
    machine: str = X86
    instruction_sets: tuple[str, ...] = ()
    isa: tuple[Path, ...] = ()
    vector_registers: int = 32

    @property
    def tiles(self) -> tuple[Memory, ...]:
        """The memories that hold tiles for its instructions."""
        return tuple(m for name, m in _TILES if name in self.instruction_sets)

    @property
    def permutes_bytes(self) -> bool:
        """Whether an instruction takes any bytes of two registers: VPERMI2B."""
        return "avx512vbmi" in self.needs

    @property
    def scales_floats(self) -> bool:
        """Whether an instruction multiplies by powers of two: VSCALEFPS."""
        return "avx512f" in self.needs

    @property
    def has_tiles(self) -> bool:
        """Whether statements may fill whole tiles."""
        return bool(self.tiles)


_AVX2 = ("avx2", "fma", "f16c", "bmi2")
_AVX512 = ("avx512f", "avx512bw", "avx512dq", "avx512vl", "fma", "f16c", "bmi2")
# One flag for each, and no level such as x86-64-v3: the compiler has no instruction for which nothing
# asks the processor (a virtual machine may hide LZCNT, which is then executed as another one).
_WITH_AVX2 = ("-mavx2", "-mfma", "-mf16c", "-mbmi2")
_WITH_AVX512 = (
    "-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mfma", "-mf16c", "-mbmi2",
)  # fmt: skip

# The flags of the tensor targets are those of the target they fall back on, so that the compiler
# puts no tensor instruction of its own where nothing asks the processor for it.
TARGETS: dict[str, Target] = {
    t.name: t
    for t in (
        Target("c", 0, (), (), None, "portable C11, no intrinsics", ""),
        Target(
            "avx2", 256, _WITH_AVX2, _AVX2, "c", "C with AVX2, FMA and F16C intrinsics",
            vector_registers=16,
        ),
        Target("avx512", 512, _WITH_AVX512, _AVX512, "avx2", "C with AVX-512 F/BW/DQ/VL intrinsics"),
        Target(
            "avx512vbmi", 512, (*_WITH_AVX512, "-mavx512vbmi"), (*_AVX512, "avx512vbmi"), "avx512",
            "AVX-512 that permutes bytes of two registers",
        ),
        Target(
            "avxvnni", 256, _WITH_AVX2, (*_AVX2, "avx_vnni"), "avx2",
            "AVX2 and its dot products of bytes and 16-bit integers",
            instruction_sets=("avxvnni",), vector_registers=16,
        ),
        Target(
            "avx512vnni", 512, _WITH_AVX512, (*_AVX512, "avx512_vnni"), "avx512",
            "AVX-512 and its dot products of bytes and 16-bit integers",
            instruction_sets=("avx512vnni",),
        ),
        Target(
            "avx512bf16", 512, _WITH_AVX512, (*_AVX512, "avx512_bf16"), "avx512",
            "AVX-512 and its dot products of bf16",
            instruction_sets=("avx512bf16",),
        ),
        Target(
            "amx", 512, _WITH_AVX512, (*_AVX512, "amx_tile", "amx_int8", "amx_bf16"), "avx512",
            "AVX-512 and AMX tiles",
            instruction_sets=("amx",),
        ),
        Target(
            "arm_dot", 128, ("-march=armv8-a",), ("asimd", "asimddp"), "c",
            "NEON and its dot products and matrix products",
            machine=ARM, instruction_sets=("arm_dot",),
        ),
        *(
            Target(
                name, bits, ("_".join(("-march=rv64gcv", *longer[-1:])),), ("v", *longer), below,
                f"RISC-V vectors (RVV 1.0) in registers of at least {bits} bits",
                machine=RISCV,
            )
            for name, bits, longer, below in (
                ("rvv", 128, (), "c"),
                ("rvv256", 256, ("zvl256b",), "rvv"),
                ("rvv512", 512, ("zvl256b", "zvl512b"), "rvv256"),
            )
        ),
        Target(
            "cuda", 128, (), ("cuda",), None, "CUDA for NVIDIA GPUs and their tensor cores",
            machine=GPU, instruction_sets=("wmma", "mma", "wgmma"),
        ),
    )
}  # fmt: skip


def scheduled_for(target: Target) -> str:
    """The target that a schedule for its vectors names: the least of those that it falls back on with as
    wide ones, which it serves too."""
    if target.instruction_sets:
        return target.name
    alike = (n for n in schedule_order(target.name) if TARGETS[n].vector_bits == target.vector_bits)
    return list(alike)[-1]


def schedule_order(target: str) -> tuple[str, ...]:
    """The target and those it falls back on, best first: whose schedules may serve it."""
    order = []
    name: str | None = target
    while name is not None:
        order.append(name)
        name = TARGETS[name].falls_back
    return tuple(order)
