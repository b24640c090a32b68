"""The same computations by torch (cuBLAS, cuDNN, its fused attention) and Triton, where installed."""

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    torch = None


def peers(sample, inputs):
    """What to call, by name: each runs on the GPU that torch uses, on its default stream."""
    make = PEERS.get(sample)
    if torch is None or make is None or not torch.cuda.is_available():
        return {}
    return make({name: torch.from_numpy(array).cuda() for name, array in inputs.items()})


def version():
    """Of torch and of what it calls; None without it."""
    if torch is None or not torch.cuda.is_available():
        return None
    return f"torch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}"


def forget():
    """Gives torch's memory back to the device."""
    if torch is not None and torch.cuda.is_available():
        torch.cuda.synchronize()
        torch.cuda.empty_cache()


def _gemm(x):
    a, b = x["A"], x["B"]
    found = {"cuBLAS (f16 result)": lambda: a @ b}
    if (triton := _triton_gemm()) is not None:
        found["Triton"] = lambda: triton(a, b)
    return found


def _conv1d(x):
    image, taps = x["I"][:, None, :], x["K"][None, None, :]
    return {"cuDNN (f16 result)": lambda: F.conv1d(image, taps)}


def _conv2d(x, step=1):
    image, taps = x["I"][None, None], x["K"][None, None]
    return {"cuDNN (f16 result)": lambda: F.conv2d(image, taps, stride=step)}


def _upsample(x):
    image, taps = x["I"][None, None], x["K"][None, None]
    return {"cuDNN (f16 result)": lambda: F.conv_transpose2d(image, taps, stride=2)}


def _conv_layer(x):
    image = x["I"].permute(0, 3, 1, 2)  # channels last in memory, as here
    filters = x["F"].permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
    bias = x["B"].half()
    return {"cuDNN (f16 result)": lambda: F.relu(F.conv2d(image, filters, bias))}


def _attention(x):
    q, k, v = (x[name][:, None] for name in "QKV")
    return {"torch attention (f16 result)": lambda: F.scaled_dot_product_attention(q, k, v)}


PEERS = {
    "gemm_f16": _gemm, "conv1d": _conv1d, "conv2d": _conv2d, "upsample": _upsample,
    "downsample": lambda x: _conv2d(x, 2), "conv_layer": _conv_layer, "attention": _attention,
    "attention_fused": _attention,
}  # fmt: skip


def _triton_gemm():
    """A blocked product with a choice of blocks, as in Triton's tutorial; None without Triton."""
    try:
        from gpu_triton import gemm
    except ImportError:
        return None
    return gemm
