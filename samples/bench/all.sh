#!/bin/sh
# all.sh [--write] [WORKLOAD...]: every benchmark, or those named, as one table.
# --write also makes RESULTS.md anew; its remarks stay.
# shellcheck source=samples/bench/common.sh
. "$(dirname -- "$0")/common.sh"

WORKLOADS='gemm_f32 gemm_bf16 gemm_u8s8 gemm_requant conv1d conv1d_bf16 conv1d_u8s8 conv2d downsample downsample_bf16 upsample
resize recursive recursive_bf16 denoise denoise_bf16 conv_layer conv_layer_u8s8 attention'

write=
if [ "${1:-}" = --write ]; then
    write=--write
    shift
fi
for name; do
    case " $(echo "$WORKLOADS" | tr '\n' ' ') " in
        *" $name "*) ;;
        *) fail "there is no \`$name\`; there are: $(echo "$WORKLOADS" | tr '\n' ' ')" ;;
    esac
done
# shellcheck disable=SC2086 # words on purpose
[ $# -gt 0 ] || set -- $WORKLOADS

export RECORD THREADS ROUNDS TARGET SCHEDULE HBC PEER_PYTHON
"$PYTHON" "$HERE/machine.py" "$THREADS" >>"$RECORD" ||
    echo 'all.sh: going on without a description of this machine' >&2
for name; do
    BENCH_PART=yes "$HERE/$name.sh"
done
"$PYTHON" "$HERE/table.py" ${write:+--write "$HERE/RESULTS.md"} "$RECORD"
