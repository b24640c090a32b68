; Written by editors/make.py.
(comment) @comment
(string) @string
(number) @number
(version) @keyword.directive
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ";" ":"] @punctuation.delimiter
["and" "bound" "def" "example" "for" "import" "in" "input" "kernel" "let" "not" "or" "output" "param" "reduce" "require" "schedule" "size" "table" "type" "where" "while" "constant" "aliases" "asm" "cost" "emit" "feature" "fragment" "instruction" "needs" "place" "rounding" "shared" "step" "target" "uses"] @keyword
(identifier) @variable
(boolean) @boolean
(type (identifier) @type)
(call function: (identifier) @function.call)
(edge_access function: (identifier) @function.call)
(reduction function: (identifier) @function.call)
(function name: (identifier) @function)
(parameters (identifier) @variable.parameter)
(names (identifier) @variable.parameter)
(sizes (identifier) @constant)
(param name: (identifier) @constant)
(instruction name: (identifier) @function)
(kernel name: (identifier) @function)
(schedule name: (identifier) @label)
(targets (identifier) @constant.builtin)
(directive) @function.method
(directive [(identifier) "in" "bound"] @function.method)
(option name: (identifier) @property)
(property name: (identifier) @property)
(setting name: (identifier) @property)
(binary operator: _ @operator)
(definition operator: _ @operator)
["=" ".."] @operator
((identifier) @function.builtin
  (#any-of? @function.builtin "abs" "ceil" "clamp" "clamp_edge" "constant" "cos" "exp" "exp2" "file" "floor" "log" "max" "min" "mirror" "ramp" "random" "round" "rsqrt" "select" "sin" "sqrt" "tanh" "tf32" "wrap" "zero_edge"))
((identifier) @type.builtin
  (#any-of? @type.builtin "bf16" "bool" "f16" "f32" "f64" "f8e4m3" "f8e5m2" "i16" "i32" "i4" "i64" "i8" "u16" "u32" "u4" "u64" "u8"))
