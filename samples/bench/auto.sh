#!/bin/sh
# auto.sh [TARGET]: the schedules that hbc makes beside those of the samples: ratios above 1 say that the
# automatic one is faster. Both run in turns, one thread, by the thread's own time: the median over the turns.
# shellcheck source=samples/bench/common.sh
. "$(dirname -- "$0")/common.sh"

plain="gemm_f32 conv1d conv2d conv_layer downsample upsample resize recursive denoise attention attention_fused"
half="gemm_bf16 conv1d_bf16 downsample_bf16 recursive_bf16 denoise_bf16"
bytes="gemm_u8s8 gemm_requant conv1d_u8s8 conv_layer_u8s8"

run() { # target, samples
    target=$1
    shift
    echo "== $target"
    files=""
    for name in "$@"; do files="$files $HERE/../$name.hb"; done
    # shellcheck disable=SC2086
    "$PYTHON" "$HERE/auto.py" $files --target "$target" 2>/dev/null
}

for target in ${1:-avx512 avx512bf16 avx512vnni avx2}; do
    case $target in
    avx512bf16) run "$target" $half ;;
    avx512vnni | avxvnni) run "$target" $bytes ;;
    amx) run "$target" gemm_bf16 $bytes ;;
    *) run "$target" $plain ;;
    esac
done
