autocmd BufRead,BufNewFile *.hb setfiletype hbc
autocmd BufRead,BufNewFile *.sf setfiletype hbc_sketch
