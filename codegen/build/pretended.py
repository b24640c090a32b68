"""Code whose question to the processor is answered as HBC_FEATURES pretends."""

from __future__ import annotations

import re
from dataclasses import replace

from hbc.codegen.build.processor import cpu_features, processor_features
from hbc.codegen.c.probe import cpuid_bit
from hbc.codegen.c.source import CSource
from hbc.ir.lang.target import X86

NOWHERE = "0xffffffff"  # a leaf of CPUID that no processor has


def pretended(source: CSource, stood_for: frozenset[str] = frozenset()) -> CSource:
    """The same code, which does not find the features that are said to be missing, but for those that
    something stands for. Only for running it here: what hbc writes for its user asks the processor."""
    lost = processor_features() - cpu_features() - stood_for
    text = source.text
    for feature in source.asks:
        if feature.machine == X86 and feature.cpuinfo in lost:
            row = ", ".join(str(n) for n in cpuid_bit(feature))
            text = re.sub(
                rf"^(    \{{\w+, ){row.partition(', ')[0]}({row[row.index(','):]}[,}}])",
                rf"\g<1>{NOWHERE}\g<2>", text, flags=re.MULTILINE,
            )  # fmt: skip
    return replace(
        source, text=text, asks=()
    )  # once is enough, and later nobody knows what stands for what
