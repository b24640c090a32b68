"""What run.py measured, as Markdown."""


def results(found):
    """RESULTS.gpu.md."""
    machine = found["machine"]
    rates = ", ".join(f"{kind} {rate / 1e12:.1f}" for kind, rate in machine["peaks"].items())
    lines = [
        "# Results on a GPU", "",
        f"{machine['gpu']} ({machine['arch']}). hbc {machine['hbc']}. Median of launches, by CUDA events,"
        " with the L2 cache as a run leaves it (with `--flush`: overwritten)."
        f" Its own copy moves {machine['copy'] / 1e9:.0f} GB/s; Top/s with operands in registers: {rates}"
        " (f16, bf16 and u8s8 on tensor cores through WMMA). *Of NumPy's bound*: the largest error in"
        " some rows beside a product in double precision, as a share of what is allowed; *apart*: from"
        " the first schedule, of the largest value.", "",
        "| sample | schedule | sizes | time | Tflop/s | of the peak | GB/s | of the copy | of NumPy's bound"
        " | apart |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]  # fmt: skip
    for kernel in found["kernels"]:
        lines += [_row(kernel, t, machine) for t in kernel["times"]]
    lines += _peers(found["peers"], machine["torch"], found["kernels"])
    lines += [
        "",
        "| sample | schedule | checked at | largest error / bound |",
        "|---|---|---|---:|",
    ]
    for kernel in found["kernels"]:
        lines += [
            f"| {kernel['sample']} | {kernel['schedule']} | {at(c['sizes'])} | {c['error']:.2g} |"
            for c in kernel["checks"]
        ]
    notes = [
        f"* {k['sample']} {k['schedule']}: {k['failure']}"
        for k in found["kernels"]
        if "failure" in k
    ]
    notes += [
        f"* {p['sample']} {p['peer']}: {p['failure']}" for p in found["peers"] if "failure" in p
    ]
    for kernel in found["kernels"]:
        notes += [
            f"* {kernel['sample']} {kernel['schedule']}: no time left for {at(sizes)}"
            for sizes in kernel["late"]
        ]
    return "\n".join([*lines, "", *notes, ""] if notes else [*lines, ""])


def at(sizes):
    """M = 4096, N = 4096"""
    return ", ".join(f"{name} = {n}" for name, n in sizes.items())


def _row(kernel, t, machine):
    seconds, peak = t["seconds"], machine["peaks"].get(t["rate"])
    error = "" if t["error"] is None else f"{t['error']:.2g}"
    share = f"{t['flops'] / seconds / peak:.0%}" if peak else ""
    return (
        f"| {kernel['sample']} | {kernel['schedule']} | {at(t['sizes'])} | {seconds * 1e6:.1f} us"
        f" | {t['flops'] / seconds / 1e12:.2f} | {share} | {t['bytes'] / seconds / 1e9:.0f}"
        f" | {t['bytes'] / seconds / machine['copy']:.0%} | {error} | {t['apart']:.1g} |"
    )


def _peers(peers, version, kernels):
    """A table beside the fastest schedule of the same sample and sizes."""
    if not peers:
        return ["", "torch is not installed, or sees no GPU: nothing to compare with."]
    lines = [
        "", f"Peers: {version}. *ours*: the fastest schedule; above 1 it is faster.", "",
        "| sample | sizes | peer | time | Tflop/s | ours | time | peer / ours |",
        "|---|---|---|---:|---:|---|---:|---:|",
    ]  # fmt: skip
    for p in peers:
        times = [
            (t["seconds"], k["schedule"])
            for k in kernels
            for t in k["times"]
            if (k["sample"], t["sizes"]) == (p["sample"], p["sizes"])
        ]
        if "failure" not in p:
            ours = " |  | "
            if times:
                least, schedule = min(times)
                ours = f"{schedule} | {least * 1e6:.1f} us | {p['seconds'] / least:.2f}"
            lines.append(
                f"| {p['sample']} | {at(p['sizes'])} | {p['peer']} | {p['seconds'] * 1e6:.1f} us"
                f" | {p['flops'] / p['seconds'] / 1e12:.2f} | {ours} |"
            )
    return lines
