"""Kernels called from Python: arrays of several libraries, results, and every way to get it wrong."""

import array
import ctypes
import sys
import threading
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import hbc

GEMM = """
size M, N, K
input A: f32[M, K]
input B: f32[K, N]
output C: f32[M, N]
reduce k in K
C[i, j] = 0
C[i, j] += A[i, k] * B[k, j]
"""
TYPED = """
type T = f32
size N
input A: T[N]
output O: T[N]
O[i] = A[i] + A[i]
"""
SUM = """
size N
input A: f32[N]
input B: f32[N]
output O: f32[N]
O[i] = A[i] + B[i]
"""
TWO = """
size N
input A: i32[N]
output S: i32[N]
output P: i32[N, 2]
S[i] = A[i] + 1
P[i, c] = A[i] * 2 + i32(c)
"""


def full_range(shape: tuple[int, ...], dtype: Any, seed: int = 1) -> Any:
    """Random values of the whole type (floats: both signs, some magnitudes)."""
    source = np.random.default_rng(seed)
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        info = np.iinfo(kind)
        return source.integers(info.min, info.max, shape, kind, endpoint=True)
    return (source.uniform(-1, 1, shape) * 2.0 ** source.integers(-8, 8, shape)).astype(kind)


@pytest.fixture(scope="module")
def gemm() -> Any:
    return hbc.compile(GEMM, target="c")


def assert_product(c: Any, a: Any, b: Any) -> None:
    want = a.astype("f8") @ b.astype("f8")
    bound = (np.abs(a.astype("f8")) @ np.abs(b.astype("f8"))) * (a.shape[1] + 1) * 2.0**-23
    assert (np.abs(c - want) <= bound).all()


@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (3, 5, 7), (33, 17, 65)])
def test_inputs_by_position_and_by_name(gemm: Any, m: int, n: int, k: int) -> None:
    a, b = full_range((m, k), "f4"), full_range((k, n), "f4", 2)
    first = gemm(a, b)
    assert first.dtype == np.float32 and first.shape == (m, n)
    assert_product(first, a, b)
    assert np.array_equal(gemm(B=b, A=a), first)
    assert np.array_equal(gemm(a, B=b), first)
    assert np.array_equal(gemm(a, b), first)  # the remembered plan


def test_rows_that_lie_apart_are_read_and_written_in_place(gemm: Any) -> None:
    a, b = full_range((8, 20), "f4")[:, 3:13], full_range((10, 9), "f4", 2)
    out = np.full((8, 30), 7, "f4")
    for _ in range(2):
        assert gemm(a, b, out=out[:, 4:13]).base is out
        assert_product(out[:, 4:13], a, b)
        assert (out[:, :4] == 7).all() and (out[:, 13:] == 7).all()
        out[:, 4:13] = np.nan


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("f16", "f2"), ("f32", "f4"), ("f64", "f8"), ("i8", "i1"), ("u8", "u1"), ("i16", "i2"),
        ("u16", "u2"), ("i32", "i4"), ("u32", "u4"), ("i64", "i8"), ("bf16", ml_dtypes.bfloat16),
        ("f8e4m3", ml_dtypes.float8_e4m3fn), ("f8e5m2", ml_dtypes.float8_e5m2),
    ],
)  # fmt: skip
def test_every_element_type(name: str, dtype: Any) -> None:
    kernel = hbc.compile(TYPED, target="c", T=name)
    theirs = name.startswith(("bf16", "f8"))
    a = full_range((37,), "f4" if theirs else np.dtype(dtype)).astype(dtype)
    with np.errstate(over="ignore"):
        want = a + a
    found = kernel(a)
    assert found.dtype == want.dtype
    np.testing.assert_array_equal(found, want)


def test_several_outputs_are_a_dictionary() -> None:
    kernel = hbc.compile(TWO, target="c")
    a = full_range((11,), "i4")
    want = a * np.int32(2)
    found = kernel(a)
    assert list(found) == ["S", "P"]
    assert np.array_equal(found["S"], a + np.int32(1))
    assert np.array_equal(found["P"], np.stack([want, want + np.int32(1)], axis=1))
    s, p = np.zeros(11, "i4"), np.zeros((11, 2), "i4")
    again = kernel(a, out=(s, p))
    assert again["S"] is s and again["P"] is p and np.array_equal(p, found["P"])
    s[:], p[:] = 0, 0
    kernel(a, out={"P": p, "S": s})
    assert np.array_equal(s, found["S"])


def test_sizes_that_no_array_decides() -> None:
    kernel = hbc.compile("size N\noutput O: i64[N]\nO[i] = i * i\n", target="c")
    assert np.array_equal(kernel(N=5), [0, 1, 4, 9, 16])
    assert np.array_equal(kernel(N=np.int32(2)), [0, 1])
    assert np.array_equal(kernel(out=np.zeros(3, "i8")), [0, 1, 4])
    with pytest.raises(hbc.ArgumentError, match="nothing says how large `N` is"):
        kernel()


def test_a_fixed_size_is_in_the_code() -> None:
    kernel = hbc.compile(TYPED, target="c", N=np.int64(8))
    assert np.array_equal(kernel(np.ones(8, "f4")), np.full(8, 2, "f4"))
    with pytest.raises(hbc.ArgumentError, match="must be 8, because N=8"):
        kernel(np.ones(9, "f4"))


class Interface:
    """An array that shows `__array_interface__` alone."""

    def __init__(self, array: Any) -> None:
        self.kept = array
        self.__array_interface__ = array.__array_interface__


class Packed:
    """An array that speaks DLPack alone."""

    def __init__(self, array: Any) -> None:
        self.kept = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.kept.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.kept.__dlpack_device__()


class Tensor:
    """What torch's tensors have in common with this: an address, a shape, strides in elements."""

    def __init__(self, array: Any, dtype: str) -> None:
        self.kept, self.dtype, self.shape = array, f"torch.{dtype}", array.shape
        self.device = "cpu"

    def data_ptr(self) -> int:
        return int(self.kept.ctypes.data)

    def stride(self) -> tuple[int, ...]:
        return tuple(s // self.kept.itemsize for s in self.kept.strides)


class TorchTensor(Tensor):
    """And what else is read of torch's own."""

    layout, requires_grad, is_leaf = "torch.strided", False, True

    def is_neg(self) -> bool:
        return False


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("torch")
    vars(module).update(Tensor=TorchTensor, strided=TorchTensor.layout)
    monkeypatch.setitem(sys.modules, "torch", module)


@pytest.mark.usefixtures("torch")
def test_tensors_of_torch(gemm: Any) -> None:
    """What they are is found anew at each call: shape, strides, type, whether torch follows them."""
    for rows in (6, 3, 6):
        a, b = full_range((rows, 12), "f4")[:, :7], full_range((7, 5), "f4", 2)
        out = np.zeros((rows, 9), "f4")
        gemm(
            TorchTensor(a, "float32"),
            TorchTensor(b, "float32"),
            out=TorchTensor(out[:, 1:6], "float32"),
        )
        assert_product(out[:, 1:6], a, b)
        assert (out[:, 0] == 0).all() and (out[:, 6:] == 0).all()
    left, right = TorchTensor(a, "float32"), TorchTensor(b, "float32")
    with pytest.raises(hbc.ArgumentError, match="`A` holds float64, but is declared f32"):
        gemm(TorchTensor(a.astype("f8"), "float64"), right)
    left.layout = "torch.sparse_csr"
    with pytest.raises(hbc.ArgumentError, match=r"`A` is sparse \(sparse_csr\)"):
        gemm(left, right)
    left.layout = "torch.strided"
    gemm(left, right, out=out[:, 1:6])
    left.is_neg = lambda: True
    with pytest.raises(hbc.ArgumentError, match="`A` is a view of negated elements"):
        gemm(left, right)
    del left.is_neg
    left.requires_grad, left.is_leaf = True, False
    with pytest.raises(hbc.ArgumentError, match="`A` is part of an autograd graph"):
        gemm(left, right)


@pytest.mark.parametrize("wrap", [Interface, Packed, lambda a: Tensor(a, "float32")])
def test_other_libraries_arrays(gemm: Any, wrap: Any) -> None:
    a, b = full_range((6, 12), "f4")[:, :7], full_range((7, 5), "f4", 2)
    out = np.zeros((6, 9), "f4")
    gemm(wrap(a), wrap(b), out=wrap(out[:, 1:6]))
    assert_product(out[:, 1:6], a, b)
    assert (out[:, 0] == 0).all() and (out[:, 6:] == 0).all()


def test_what_has_the_buffer_protocol() -> None:
    """Arrays of Python's and ctypes', and bytes, in place."""
    kernel = hbc.compile(TYPED, target="c")
    values = full_range((7,), "f4")
    out = array.array("f", bytes(28))
    kernel(array.array("f", values), out=out)
    np.testing.assert_array_equal(out, values + values)
    with pytest.raises(BufferError):
        hold = memoryview(out)
        out.append(1.0)  # as during a call
    del hold
    made = (ctypes.c_float * 7)()
    assert kernel(memoryview(values), out=made) is made
    np.testing.assert_array_equal(np.frombuffer(made, "f4"), values + values)
    found = hbc.compile(TYPED, target="c", T="u8")(b"abc")
    assert found.tolist() == [2 * c for c in b"abc"]
    for wrong, said in (
        (array.array("d", values), "`A` holds float64, but is declared f32"),
        ("text", "`A` is a str, no array"),
        (object(), "`A` is an object, no array"),
    ):
        with pytest.raises(hbc.ArgumentError, match=said):
            kernel(wrong)
    with pytest.raises(hbc.ArgumentError, match="`O` is read-only, and an output"):
        kernel(values, out=memoryview(bytes(28)).cast("f"))


@pytest.mark.parametrize(
    ("name", "theirs", "bits"),
    [
        ("bf16", "bfloat16", "u2"),
        ("f8e4m3", "float8_e4m3fn", "u1"),
        ("f8e5m2", "float8_e5m2", "u1"),
    ],
)
def test_a_tensor_of_narrow_floats(name: str, theirs: str, bits: str) -> None:
    kernel = hbc.compile(TYPED, target="c", T=name)
    a = np.linspace(-100, 100, 9, dtype="f4").astype(getattr(ml_dtypes, theirs))
    want = np.zeros_like(a)
    kernel(Tensor(a, theirs), out=Tensor(want, theirs))
    assert np.array_equal(want, a + a)
    assert np.array_equal(kernel(a.view(bits)), a + a)
    with pytest.raises(hbc.ArgumentError, match=f"astype.ml_dtypes.{theirs}"):
        kernel(a.astype("f4"))


def read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array


A, B = np.ones((4, 6), "f4"), np.ones((6, 5), "f4")
MISTAKES = [
    ((A,), {}, "needs `B` too"),
    ((A, B, B), {}, "3 inputs are given, `kernel` takes 2: `A`, `B`"),
    ((A, B), {"A": A}, "input `A` is given twice"),
    ((A, B), {"D": A}, "has no input and no size `D`"),
    ((A, B), {"K": 7}, "must be 7, because K=7"),
    ((A, B), {"K": 1.5}, "size `K` is 1.5, which is no integer"),
    ((A.astype("f8"), B), {}, r"`A` holds float64, but is declared f32(.|\n)*numpy.float32"),
    ((A.astype(">f4"), B), {}, "`A` holds >f4, but is declared f32"),
    ((A, B[1:]), {}, "sizes contradict each other: the array for `B` is 5 long in dimension 0"),
    ((A[0], B), {}, "`A` has 2 dimensions, but the array for `A` has 1"),
    ((A, np.asfortranarray(B)), {}, r"`B` has strides(.|\n)*ascontiguousarray"),
    ((A[:, ::-1], B), {}, "`A` has strides"),
    ((A[::-1], B), {}, "`A` has strides"),
    ((np.broadcast_to(A[0], (4, 6)), B), {}, "`A` has strides"),
    (([1, 2], B), {}, r"`A` is a list, no array\nhint: make one of it: numpy\.array\(..., dtype\)"),
    ((A, B), {"threads": 2}, r"given to hbc\.compile\(..., threads=\), not to a call"),
    ((None, B), {}, "`A` is None, no array"),
    ((np.ma.masked_array(A, A > 0), B), {}, "`A` is a masked array"),
    ((A, B), {"out": np.ones((4, 4), "f4")}, "the array for `C` is 4 long in dimension 1"),
    ((A, B), {"out": read_only(np.ones((4, 5), "f4"))}, "`C` is read-only, and an output"),
    ((A, B), {"out": [A, B]}, "`out` has 2 arrays, the kernel 1 outputs"),
    ((A, B), {"out": {"D": A}}, "`out` is for the outputs `C`, all of them"),
    ((A, B), {"stream": 0}, "`stream` is for arrays in a GPU's memory"),
]  # fmt: skip


@pytest.mark.parametrize(("arrays", "named", "said"), MISTAKES)
def test_mistakes_are_named(gemm: Any, arrays: Any, named: Any, said: str) -> None:
    with pytest.raises(hbc.ArgumentError, match=said) as caught:
        gemm(*arrays, **named)
    assert isinstance(caught.value, hbc.HbcError) and isinstance(caught.value, ValueError)


def test_an_output_over_an_input_is_refused_by_the_code() -> None:
    kernel = hbc.compile(TYPED, target="c")
    memory = np.ones(10, "f4")
    with pytest.raises(hbc.ArgumentError, match=r"output `O` overlaps `A` \(at N = 8\)"):
        kernel(memory[:8], out=memory[2:])
    assert (memory == 1).all()


def test_arrays_on_two_devices() -> None:
    class OnGpu:
        def __init__(self) -> None:
            self.__cuda_array_interface__ = {
                "shape": (4,), "typestr": "<f4", "data": (4096, False), "version": 3,
            }  # fmt: skip

    kernel = hbc.compile(SUM)
    with pytest.raises(hbc.ArgumentError, match="`A` on cpu, `B` on cuda:0"):
        kernel(np.ones(4, "f4"), OnGpu())
    with pytest.raises(hbc.ArgumentError, match="the arrays lie on cuda:0"):
        kernel(OnGpu(), OnGpu())


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The plans that were made since."""
    from hbc.cli.api import calls

    found: list[Any] = []
    real = calls.plan_of

    def counted(*given: Any) -> Any:
        found.append(real(*given))
        return found[-1]

    monkeypatch.setattr(calls, "plan_of", counted)
    return found


WAYS = {
    "positions": lambda k, a, g, s, p: k(a, g, out=(s, p)),
    "names": lambda k, a, g, s, p: k(gain=g, A=a, out={"P": p, "S": s}),
    "list": lambda k, a, g, s, p: k(a, gain=g, out=[s, p]),
    "interface": lambda k, a, g, s, p: k(Interface(a), g, out=(Interface(s), Interface(p))),
    "dlpack": lambda k, a, g, s, p: k(Packed(a), g, out=(Packed(s), Packed(p))),
    "tensors": lambda k, a, g, s, p: k(
        Tensor(a, "int32"), g, out=(Tensor(s, "int32"), Tensor(p, "int32"))
    ),
    "size": lambda k, a, g, s, p: k(a, g, out=(s, p), N=len(a)),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_calling_is_planned_once(planned: list[Any], way: str) -> None:
    """Random arrays at random places: what is remembered has no address and no value in it."""
    text = TWO.replace("output S", "input gain: i32\noutput S").replace("+ 1", "+ gain")
    kernel = hbc.compile(text, target="c")
    source = np.random.default_rng(5)
    for turn in range(6):
        n = 7 if turn < 3 else 12
        a = source.integers(-1000, 1000, n, np.int32)
        whole = np.zeros((n + 2, 2), np.int32)
        s, p = np.zeros(n + turn, np.int32)[turn:], whole[1:-1]
        gain = int(source.integers(-99, 99))
        WAYS[way](kernel, a, gain if turn % 2 else np.int32(gain), s, p)
        np.testing.assert_array_equal(s, a + gain)
        np.testing.assert_array_equal(p, np.stack([a * 2, a * 2 + 1], axis=1))
        assert not whole[0].any() and not whole[-1].any()
    assert len(planned) == 2


def test_what_was_right_once_is_looked_at_again(planned: list[Any]) -> None:
    kernel = hbc.compile(SUM, target="c")
    a, b, out = np.ones(6, "f4"), np.ones(6, "f4"), np.zeros(6, "f4")
    kernel(a, B=b, out=out)
    for wrong in (
        {"B": b.astype("f8"), "out": out},
        {"B": b.astype(">f4"), "out": out},
        {"B": b[::2], "out": out},
        {"B": b, "out": read_only(out.copy())},
        {"B": b, "out": Interface(read_only(out.copy()))},
        {"B": b, "out": out, "N": 5},
        {"B": b, "out": out, "stream": 0},
        {"B": np.ma.masked_array(b, b > 2), "out": out},
    ):
        for _ in range(2):
            with pytest.raises(hbc.ArgumentError):
                kernel(a, **wrong)
    kernel(a, B=b, out=out)
    assert (out == 2).all()


def test_threads_may_call_at_once(gemm: Any) -> None:
    pairs = [
        (full_range((40 + t, 30), "f4", t), full_range((30, 50), "f4", 9 + t)) for t in range(6)
    ]
    results: list[Any] = [None] * len(pairs)

    def work(t: int) -> None:
        for _ in range(20):
            results[t] = gemm(*pairs[t])

    threads = [threading.Thread(target=work, args=(t,)) for t in range(len(pairs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for (a, b), c in zip(pairs, results, strict=True):
        assert_product(c, a, b)


def test_an_array_that_is_freed_is_not_needed_again(gemm: Any) -> None:
    """Plans keep shapes and no arrays."""
    before = [full_range((30, 30), "f4", s) for s in range(2)]
    assert_product(gemm(*before), *before)
    import weakref

    gone = weakref.ref(before[0])
    del before
    assert gone() is None


def test_addresses_are_those_of_the_array() -> None:
    from hbc.cli.api.arrays import address_of

    whole = np.arange(24, dtype="i2").reshape(4, 6)
    for part in (whole, whole[1:, 2:], np.zeros((0, 3))):
        assert address_of(part) == part.ctypes.data
    held = Tensor(whole, "int16")
    assert ctypes.c_int16.from_address(address_of(held)).value == 0
