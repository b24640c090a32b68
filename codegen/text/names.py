"""C identifiers for a kernel's names: safe from keywords and headers, unique in their scope."""

from __future__ import annotations

import re
from dataclasses import field

from hbc.ir.ground.diag import Diagnostic, HbcError, InternalError
from hbc.ir.ground.record import mutable, record

# C11, C23 and C++20: the header is also read by C++ compilers.
_KEYWORDS_TEXT = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t
char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr
constinit continue decltype default delete do double dynamic_cast else enum explicit export extern
false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr
operator or or_eq private protected public register reinterpret_cast requires restrict return
short signed sizeof static static_assert static_cast struct switch template this thread_local
throw true try typedef typeid typename typeof typeof_unqual union unsigned using virtual void
volatile wchar_t while xor xor_eq
"""
KEYWORDS = frozenset(_KEYWORDS_TEXT.split())

# Macros, types and functions of the headers that generated code includes, and what compilers or
# other headers define as macros (complex.h: I; gnu17: linux, unix; Windows: near, far, min, max).
_TAKEN_TEXT = """
I NULL NAN INFINITY HUGE_VAL HUGE_VALF EOF BUFSIZ FILE RAND_MAX EXIT_SUCCESS EXIT_FAILURE main asm
fortran linux unix i386 near far min max errno assert stdin stdout stderr offsetof isnan isinf
isfinite isnormal signbit fpclassify size_t ptrdiff_t wchar_t div_t ldiv_t lldiv_t abort abs
aligned_alloc atexit atof atoi atol bsearch calloc div exit free getenv labs llabs ldiv lldiv
malloc mblen qsort quick_exit rand realloc srand strtod strtol system memcpy memmove memset memcmp
strlen strcpy strcat strcmp acos asin atan atan2 cbrt ceil copysign cos cosh erf erfc exp exp2
expm1 fabs fdim floor fma fmax fmin fmod frexp gamma hypot ilogb j0 j1 jn ldexp lgamma lgammaf log
log10 log1p log2 logb lrint lround modf nan nearbyint nextafter pow remainder remquo rint round
scalbn signgam sin sinh sqrt tan tanh tgamma trunc y0 y1 yn allocate release measure overlap status code
bool syscall getauxval madvise hbc_amx_emulated missing_feature has_feature needed_feature needed_features
has_no_vectors is_permitted tile_config EMULATOR EMULATED
"""
TAKEN = frozenset(_TAKEN_TEXT.split())
_FLOAT_FUNCTION = re.compile(
    r"(acos|asin|atan|ceil|copysign|cos|cosh|exp|fabs|floor|fma|fmod|log|nearbyint|pow|rint|round"
    r"|sin|sinh|sqrt|tan|tanh|trunc|fmin|fmax)f$"
)
_FIXED_WIDTH = re.compile(r"(u?int(_least|_fast)?\d+_t|u?int(max|ptr)_t|U?INT\w*_(MAX|MIN|C))$")
# Functions that `prelude` may add, such as `min_i32` or `load_u8x8`.
_HELPER = re.compile(
    r"(abs|add|apart|at_least|at_most|bits|clamped|bf16_from|div|f8e[45]m[23]_from|f16_from|f32_from|first|gather|hold|last|least|load|lut|max|min|mod|most"
    r"|mul|neg|odd|repeat|scatter|shl|shr|store|sub|to|word)(_[a-z0-9_]+)?"
    r"_(bool|bf16|f8e[45]m[23]|[iuf](8|16|32|64))(x\d+)*(_\w+)?$|allocate$|join_\d+x\d+$|widened_mask$"
)
# Intrinsics and types of arm_neon.h; types of riscv_vector.h.
_NEON = re.compile(r"v[a-z]\w*_[suf](8|16|32|64)$|(u?int|b?float|poly)\d+(x\d+)*_t$")
_RVV = re.compile(r"v(u?int|float|bool)\d+(mf?\d+)?_t$")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*$")


def is_reserved(name: str) -> bool:
    """Whether C, C++, a standard header or this compiler's own text may give `name` a meaning."""
    return (
        name in KEYWORDS
        or name in TAKEN
        or name.startswith(("_", "omp_", "execute_", "ptx_"))
        or any(p.match(name) for p in (_FLOAT_FUNCTION, _FIXED_WIDTH, _HELPER, _NEON, _RVV))
    )


def identifier(name: str) -> str:
    """`name` itself where C allows it, else the nearest free spelling (`int` -> `int_`)."""
    word = re.sub(r"[^A-Za-z0-9_]", "_", name).lstrip("_") or "v"
    if word[0].isdigit():
        word = f"v{word}"
    return f"{word}_" if word != name or is_reserved(word) else word


def check_kernel_name(name: str, hint: str = "name it in the file: `kernel my_name`") -> None:
    """Raises HbcError when no C function can have this name."""
    if not name.isascii() or not _WORD.match(name):
        raise HbcError(Diagnostic(f"`{name}` cannot be the name of a C function", hint=hint))
    if name in KEYWORDS:
        raise HbcError(
            Diagnostic(f"`{name}` is a keyword of C or C++, not a kernel's name", hint=hint)
        )
    if is_reserved(name):
        raise HbcError(
            Diagnostic(f"`{name}` is reserved by C or its library, not a kernel's name", hint=hint)
        )


def check_sketch_name(name: str) -> None:
    """The same for the function of a sketch, which has its file's name."""
    check_kernel_name(
        name, "the function is called as the sketch's file is: give that another name"
    )


@record
class Binding:
    """What a name of the IR is in C, and what is known about its value.

    `bits`: signed bits that hold every value (None: an index, which never overflows)."""

    text: str
    nonnegative: bool = False
    bits: int | None = None


@mutable
class _Frame:
    bindings: dict[str, Binding] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    numbered: dict[str, int] = field(default_factory=dict)  # the last number given to a name


@mutable
class Scope:
    """The names visible at a point of the C text. Frames follow C's blocks."""

    frames: list[_Frame] = field(default_factory=lambda: [_Frame()])

    def push(self) -> None:
        self.frames.append(_Frame())

    def pop(self) -> None:
        self.frames.pop()

    def fresh(self, name: str) -> str:
        """A free identifier like `name`, taken from now on in the innermost block."""
        base = identifier(name)
        # What a block numbered is taken as long as the block, and all below had been taken before.
        count = max(frame.numbered.get(base, 0) for frame in self.frames)
        text = f"{base.rstrip('_')}_{count}" if count else base
        while any(text in frame.taken for frame in self.frames):
            count += 1
            text = f"{base.rstrip('_')}_{count}"
        self.frames[-1].taken.add(text)
        self.frames[-1].numbered[base] = count
        return text

    def fresh_in_file(self, name: str) -> str:
        """The same, taken in the whole file."""
        text = self.fresh(name)
        self.frames[0].taken.add(text)
        return text

    def reserve(self, *names: str) -> None:
        self.frames[-1].taken.update(names)

    def bind(self, name: str, binding: Binding) -> None:
        self.frames[-1].bindings[name] = binding

    def declare(self, name: str, *, nonnegative: bool = False, bits: int | None = None) -> str:
        """Binds `name` to a fresh identifier and returns that."""
        text = self.fresh(name)
        self.bind(name, Binding(text, nonnegative, bits))
        return text

    def find(self, name: str) -> Binding:
        """The innermost binding; InternalError for a name that nothing binds."""
        for frame in reversed(self.frames):
            if name in frame.bindings:
                return frame.bindings[name]
        raise InternalError(f"codegen: `{name}` is read but nothing binds it")
