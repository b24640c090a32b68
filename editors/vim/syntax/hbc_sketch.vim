" Vim syntax of hbc sketches, written by editors/make.py.
if exists("b:current_syntax")
  finish
endif
syntax keyword hbcStatement and as cost each else fold for gather goal if import in not or param set table then where
syntax match hbcStatement "^\s*hbc\ze\s\+\d"
syntax match hbcDirective "?\w\+"
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
let b:current_syntax = "hbc_sketch"
