" Vim syntax of hbc kernels, written by editors/make.py.
if exists("b:current_syntax")
  finish
endif
syntax keyword hbcStatement and bound def example false for import in input kernel let not or output param reduce require schedule size table true type where while
syntax keyword hbcFunction abs ceil clamp clamp_edge cos exp exp2 file floor log max min mirror ramp random round rsqrt select sin sqrt tanh tf32 wrap zero_edge
syntax keyword hbcType bf16 bool f16 f32 f64 f8e4m3 f8e5m2 i16 i32 i4 i64 i8 u16 u32 u4 u64 u8
syntax match hbcDirective "\.\(async\|at_once\|atomic\|cache_write\|compute_at\|compute_inline\|compute_root\|compute_with\|copy_in_bulk\|flatten\|fold_storage\|fuse\|gpu_blocks\|gpu_lanes\|gpu_threads\|hoist_storage\|hoist_storage_root\|pad_storage\|parallel\|partition\|persistent\|pipeline\|prefetch\|reorder\|reorder_storage\|rfactor\|specialize\|split\|store_at\|store_in\|store_root\|swizzle_storage\|tile\|trace\|unroll\|vectorize\)\>"
syntax match hbcStatement "^\s*hbc\ze\s\+\d"
syntax match hbcFunction "\v<constant>(\s*\()@="
syntax match hbcStatement "\v<constant>(\s*\()@!(\s*[\[:=])@!"
syntax match hbcStatement "\v<aliases>(\s+[A-Za-z_])@="
syntax match hbcNumber "\<\d\+\(\.\d\+\)\?\([eE][+-]\?\d\+\)\?\>"
syntax match hbcComment "#.*$"
syntax region hbcString start=+"+ end=+"\|$+
highlight default link hbcStatement Statement
highlight default link hbcFunction Function
highlight default link hbcType Type
highlight default link hbcDirective Identifier
highlight default link hbcNumber Number
highlight default link hbcComment Comment
highlight default link hbcString String
let b:current_syntax = "hbc"
