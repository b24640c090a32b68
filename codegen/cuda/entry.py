"""The entry points of a CUDA file: on device memory and a stream, and on arrays of the host."""

from __future__ import annotations

from collections.abc import Mapping

from hbc.codegen.c.abi import Abi, ordered
from hbc.codegen.c.entry import cautious, check_arguments, dense_entry, refuse, unread_named
from hbc.codegen.cuda.launch import STREAM
from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Unit
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Argument

STREAM_PARAMETER = f"void *{STREAM}"


def device_entries(abi: Abi, call: str, alignments: Mapping[str, int], unit: Unit) -> None:
    """`NAME_device_strided` and `NAME_device`: every check, then the launches, asynchronously. Arrays
    must lie at multiples of so many bytes, as what CUDA allocates does."""
    name, out = abi.kernel.name, unit.out
    out.function(f"int {name}_device_strided", [*abi.strided(), STREAM_PARAMETER], "")
    with out.braces(), cautious(abi, unit), unread_named(abi, unit):
        check_arguments(abi, unit)
        for a in ordered(abi.kernel):
            if (least := alignments.get(a.name, 1)) > a.element.bytes:
                misaligned = f"(uintptr_t){abi.names[a.name]} % {least} != 0"
                refuse(misaligned, abi.code(f"ALIGN_{a.name}"), unit)
        out.line(f"return {call};")
    out.blank()
    dense_entry(abi, unit, "_device", [STREAM_PARAMETER])


def host_entries(abi: Abi, call: str, unit: Unit) -> None:
    """`NAME_strided` and `NAME`: the arrays are copied to the device, and the outputs back."""
    name, out = abi.kernel.name, unit.out
    out.function(f"int {name}_strided", abi.strided(), "")
    with out.braces(), cautious(abi, unit), unread_named(abi, unit):
        check_arguments(abi, unit)
        out.line(f"const cudaStream_t {STREAM} = cudaStreamPerThread;")
        copied = [a for a in ordered(abi.kernel) if not a.is_scalar]
        for a in copied:
            _copy_in(abi, a, unit)
        arrays = {abi.names[a.name]: f"({_pointer(a)}){_device(abi, a)}.data" for a in copied}
        function, _, rest = call.partition("(")
        arguments = [arrays.get(text, text) for text in rest.removesuffix(")").split(", ")]
        out.line(f"int status = {function}({', '.join(arguments)});")
        out.line(f"if (unfinished({STREAM}) && status == {abi.code('OK')})")
        out.line(f"    status = {abi.code('CUDA')};")
        for a in abi.kernel.arguments:
            if a.output:
                _copy_out(abi, a, unit)
        out.line(f"const cudaError_t copied = cudaStreamSynchronize({STREAM});")
        out.line(f'if (status == {abi.code("OK")} && failed(copied, "{name}"))')
        out.line(f"    status = {abi.code('CUDA')};")
        out.line("return status;")
    out.blank()
    dense_entry(abi, unit)


def _device(abi: Abi, a: Argument) -> str:
    return f"on_device_{abi.names[a.name]}"


def _pointer(a: Argument) -> str:
    return f"{'' if a.output else 'const '}{c_type(a.element)} *"


def _copy_in(abi: Abi, a: Argument, unit: Unit) -> None:
    """Device memory for an array; what lies between the rows of an output must come back as it was."""
    name, size, device = abi.names[a.name], abi.bytes(a), _device(abi, a)
    unit.out.line(f'device_memory {device}("{a.name}", {size}, 1, {STREAM});')
    why = f"{device}.error({abi.code('MEMORY')}, {abi.code('CUDA')})"
    refuse(f"{device}.data == nullptr", why, unit)
    copy = f"cudaMemcpyAsync({device}.data, {name}, {size}, cudaMemcpyHostToDevice, {STREAM})"
    condition = f'failed({copy}, "copying `{a.name}` to the device")'
    if a.output and not a.aliases:
        if len(a.extents) == 1:
            return
        whole: ir.Expr = a.extents[0]
        for extent in a.extents[1:]:
            whole = ir.Binary(ir.Op.MUL, whole, extent)
        dense = f"{scalar(whole, unit)} * (int64_t)sizeof({c_type(a.element)})"
        condition = f"{size} != {dense} && {condition}"
    refuse(condition, abi.code("CUDA"), unit)


def _copy_out(abi: Abi, a: Argument, unit: Unit) -> None:
    name, size, device = abi.names[a.name], abi.bytes(a), _device(abi, a)
    copy = f"cudaMemcpyAsync({name}, {device}.data, {size}, cudaMemcpyDeviceToHost, {STREAM})"
    failed = f'failed({copy}, "copying `{a.name}` from the device")'
    unit.out.line(f"if (status == {abi.code('OK')} && {failed})")
    unit.out.line(f"    status = {abi.code('CUDA')};")


def wait_entry(abi: Abi, unit: Unit) -> None:
    """`NAME_wait`: until a stream is done."""
    unit.out.function(f"int {abi.kernel.name}_wait", [STREAM_PARAMETER], "")
    with unit.out.braces():
        done, wrong = abi.code("OK"), abi.code("CUDA")
        unit.out.line(f"return unfinished((cudaStream_t){STREAM}) ? {wrong} : {done};")


def cuda_error(abi: Abi, unit: Unit) -> None:
    """`NAME_cuda_error`: the last CUDA error of this thread in words."""
    unit.out.function(f"const char *{abi.kernel.name}_cuda_error", [], "")
    with unit.out.braces():
        unit.out.line("return last_error;")
