"""What run.py measured, as Markdown."""


def results(found):
    """RESULTS.gpu.md."""
    machine = found["machine"]
    copy = machine["copy"]
    lines = [
        "# Results on a GPU", "",
        f"{machine['gpu']} ({machine['arch']}); its own copy moves {copy / 1e9:.0f} GB/s. hbc"
        f" {machine['hbc']}. Median of launches, by CUDA events.", "",
        "| sample | schedule | sizes | time | Tflop/s | GB/s | of the copy's rate |",
        "|---|---|---|---:|---:|---:|---:|",
    ]  # fmt: skip
    for kernel in found["kernels"]:
        for t in kernel["times"]:
            lines.append(_row(kernel, t, copy))
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
    failures = [k for k in found["kernels"] if "failure" in k]
    if failures:
        lines += ["", *(f"* {k['sample']} {k['schedule']}: {k['failure']}" for k in failures)]
    return "\n".join([*lines, ""])


def at(sizes):
    """M = 4096, N = 4096"""
    return ", ".join(f"{name} = {n}" for name, n in sizes.items())


def _row(kernel, t, copy):
    seconds = t["seconds"]
    return (
        f"| {kernel['sample']} | {kernel['schedule']} | {at(t['sizes'])} | {seconds * 1e6:.1f} us"
        f" | {t['flops'] / seconds / 1e12:.2f} | {t['bytes'] / seconds / 1e9:.0f}"
        f" | {t['bytes'] / seconds / copy:.0%} |"
    )
