#!/bin/sh
# hvx_packets.sh: how many of an instruction fit into one packet of a Hexagon V66 with HVX, and what share of
# a packet one of them is: the figures of synth/results/costs/hvx.toml. No processor is needed, and none is timed:
# LLVM's assembler knows which resources of a packet an instruction takes, and refuses packets that want
# more. Needs a clang with the target hexagon; CLANG overrides clang.
set -eu

CLANG=${CLANG:-clang}
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT

# Whether so many of an instruction are a packet; it writes the register %d or the pair of registers %p.
fits() {
    {
        echo '{'
        for register in 0 1 2 3; do
            [ "$register" -ge "$1" ] ||
                echo "    $2" | sed "s/%p/v$((2 * register + 1)):$((2 * register))/; s/%d/$register/"
        done
        echo '}'
    } >"$FOLDER/packet.s"
    "$CLANG" --target=hexagon -mcpu=hexagonv66 -mhvx -c "$FOLDER/packet.s" -o "$FOLDER/packet.o" 2>/dev/null
}

count() {
    for many in 4 3 2 1; do
        if fits "$many" "$2"; then
            awk -v name="$1" -v many="$many" 'BEGIN { printf "%-12s %d %8.2f\n", name, many, 1 / many }'
            return
        fi
    done
    echo "hvx_packets.sh: $CLANG does not take $1 for Hexagon V66" >&2
    exit 1
}

"$CLANG" --version | sed -n '1s/^/# /p'
echo '# instruction  in a packet, share of one'
count valign 'v%d = valign(v10,v11,r0)'
count vror 'v%d = vror(v10,r0)'
count vshuffe.b 'v%d.b = vshuffe(v10.b,v11.b)'
count vshuffo.b 'v%d.b = vshuffo(v10.b,v11.b)'
count vshuffe.h 'v%d.h = vshuffe(v10.h,v11.h)'
count vshuffo.h 'v%d.h = vshuffo(v10.h,v11.h)'
count vmux 'v%d = vmux(q0,v10,v11)'
count vand 'v%d = vand(v10,v11)'
count vand.q 'q%d = vand(v10,r0)'
count vlut32 'v%d.b = vlut32(v10.b,v11.b,#0)'
count vlut32.or 'v%d.b |= vlut32(v10.b,v11.b,#1)'
count vshuff.b 'v%d.b = vshuff(v10.b)'
count vmem 'v%d = vmem(r0+#0)'
count vshuff '%p = vshuff(v11,v10,r0)'
count vdeal '%p = vdeal(v11,v10,r0)'
