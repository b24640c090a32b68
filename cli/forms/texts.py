"""The forms that are texts: each gives its files by name."""

from __future__ import annotations

from hbc.cli.compiled import Compiled
from hbc.codegen.c.source import CSource
from hbc.ir.lang.target import Target

Files = dict[str, str]


def code(compiled: Compiled) -> Files:
    """NAME.c or NAME.cu, and NAME.h."""
    source = compiled.source
    suffix = "c" if isinstance(source, CSource) else "cu"
    return {f"{source.name}.{suffix}": source.text, f"{source.name}.h": source.header}


def cmake(compiled: Compiled) -> Files:
    from hbc.codegen.bindings.cmake import cmake_text

    return code(compiled) | {"CMakeLists.txt": cmake_text(*_c_of(compiled))}


def meson(compiled: Compiled) -> Files:
    from hbc.codegen.bindings.meson import meson_text

    return code(compiled) | {"meson.build": meson_text(*_c_of(compiled))}


def cpp(compiled: Compiled) -> Files:
    from hbc.codegen.bindings.cpp import cpp_text

    text = cpp_text(compiled.kernel, compiled.chosen.target)
    return code(compiled) | {f"{compiled.source.name}.hpp": text}


def rust(compiled: Compiled) -> Files:
    from hbc.codegen.bindings.rust import rust_text

    text = rust_text(compiled.kernel, compiled.chosen.target)
    return code(compiled) | {f"{compiled.source.name}.rs": text}


def pkgconfig(compiled: Compiled) -> Files:
    """NAME.h and NAME.pc; the library is built beside them."""
    from hbc.cli.show.crash import version
    from hbc.codegen.bindings.pkgconfig import pkgconfig_text

    source, target = _c_of(compiled)
    text = pkgconfig_text(source, target, version())
    return {f"{source.name}.h": source.header, f"{source.name}.pc": text}


def ir(compiled: Compiled) -> Files:
    from hbc.ir.lang.show import show_kernel

    return {f"{compiled.source.name}.ir": show_kernel(compiled.kernel)}


def loops(compiled: Compiled) -> Files:
    from hbc.cli.show.shared_memory import shared_lines
    from hbc.frontend.directives.loop_tree import loop_tree

    chosen = compiled.chosen
    text = loop_tree(chosen.pipeline, chosen.schedule, chosen.on_gpu)
    memory = "".join(f"{line}\n" for line in shared_lines(compiled.kernel))
    return {f"{compiled.source.name}.loops": text + memory}


def html(compiled: Compiled) -> Files:
    from hbc.cli.page.page import page

    return {f"{compiled.source.name}.html": page(compiled)}


def _c_of(compiled: Compiled) -> tuple[CSource, Target]:
    source = compiled.source
    assert isinstance(source, CSource)
    return source, compiled.chosen.target
