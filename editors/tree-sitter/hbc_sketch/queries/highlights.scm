; Written by editors/make.py.
(comment) @comment
(string) @string
(number) @number
(version) @keyword.directive
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ";" ":"] @punctuation.delimiter
["and" "as" "cost" "each" "else" "fold" "for" "gather" "goal" "if" "import" "in" "not" "or" "param" "set" "table" "then" "where"] @keyword
(identifier) @variable
(call function: (identifier) @function.call)
(hole "?" @function.macro (identifier) @function.macro)
(set name: (identifier) @function)
(define name: (identifier) @variable)
(param name: (identifier) @constant)
(option name: (identifier) @property)
(blank) @constant.builtin
(operation) @operator
(binary operator: _ @operator)
["=" "==" ".." "->" "|" "\\"] @operator
