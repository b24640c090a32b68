autocmd BufRead,BufNewFile *.hb setfiletype hbc
