// The grammar of `.hb` files, kernels and descriptions of instructions, for editors. hbc's own are
// frontend/text/hb.lark and frontend/isa/isa.lark; the order of the rules is theirs. What those decide by
// looking ahead (`for` before `l in`, `constant` and `aliases` behind extents, a `(` that opens a left
// side) both readings are tried for here.

// How tightly operators bind, as PRECEDENCE in frontend/text/ast.py.
const BINARY = [
  [1, choice("or", "||")],
  [2, choice("and", "&&")],
  [4, choice("==", "!=", "<", "<=", ">", ">=")],
  [5, "|"],
  [6, "^"],
  [7, "&"],
  [8, choice("<<", ">>")],
  [9, choice("+", "-")],
  [10, choice("*", "/", "%")],
];
const NOT = 3;
const SIGN = 11;
const POWER = 12;
const UPDATES = ["<<=", ">>=", "-=", "+=", "*=", "/=", "%=", "|=", "&=", "^=", "min=", "max="];

const listed = (rule) => seq(rule, repeat(seq(",", rule)));
const braced = (...rules) => seq("{", repeat(choice(...rules, ";")), "}");

module.exports = grammar({
  name: "hbc",
  word: ($) => $.identifier,
  extras: ($) => [/[ \t\r\n\f]/, $.comment],
  supertypes: ($) => [$._statement, $._expression],
  conflicts: ($) => [
    [$.input],
    [$.output],
    [$.schedule],
    [$._expression, $.call, $.edge_access, $.reduction],
    [$._expression, $.call, $.reduction],
    [$.access, $.member_access, $.left],
    [$.access, $.left],
  ],

  rules: {
    source_file: ($) =>
      seq(optional($.version), repeat(choice($._statement, $._described, ";"))),
    version: () => token(prec(3, seq("hbc", /[ \t]+/, /[0-9][0-9_.]*/))),

    _statement: ($) =>
      choice(
        $.kernel, $.sizes, $.param, $.type_param, $.input, $.output, $.table, $.require, $.bound,
        $.reduce, $.definition, $.alias, $.function, $.import, $.each, $.schedule, $.example,
      ),

    kernel: ($) => prec.right(seq("kernel", field("name", $._name), optional(braced($._statement)))),
    sizes: ($) => seq("size", listed($._name)),
    param: ($) =>
      seq("param", field("name", $._name), ":", field("type", $.type), "=", field("value", $._expression)),
    type_param: ($) => seq("type", field("name", $._name), "=", field("value", $.type)),
    input: ($) =>
      seq(
        "input", field("name", $._name), ":", field("type", $.type),
        optional(seq(field("extents", $.indices), optional("constant"))),
      ),
    output: ($) =>
      seq(
        "output", field("name", $._name), ":", field("type", $.type), field("extents", $.indices),
        optional(seq("aliases", field("input", $._name))),
      ),
    table: ($) =>
      seq(
        "table", field("name", $._name), ":", field("type", $.type), field("extents", $.indices),
        optional($.indices), "=", field("value", $._cell),
      ),
    require: ($) => seq("require", field("condition", $._expression), optional(seq(",", $.string))),
    bound: ($) => seq("bound", field("name", $._name), "in", $.interval),
    reduce: ($) => seq("reduce", listed($.domain)),
    domain: ($) => seq(field("index", $._name), "in", $.interval),
    interval: ($) => seq($._expression, optional(seq("..", $._expression))),

    definition: ($) =>
      seq(
        choice($.left, seq("(", listed($.left), ")")),
        field("operator", choice("=", ...UPDATES)),
        field("value", $._expression),
        optional($.where),
        optional($.while),
      ),
    left: ($) =>
      choice(
        seq(field("name", $._name), optional(seq(":", field("type", $.type))), $.indices),
        seq(field("name", $._name), $.indices, optional(seq(":", field("type", $.type))), $.indices),
      ),
    where: ($) => seq("where", $._expression),
    while: ($) => seq("while", $._name, ":", $._expression),
    alias: ($) => seq(field("name", $._name), "=", field("value", $._expression)),
    function: ($) =>
      seq(
        "def", field("name", $._name), field("parameters", $.parameters), optional($.indices),
        "=", field("value", $._expression),
      ),
    parameters: ($) => seq("(", optional(listed(choice($._name, $.names))), ")"),
    names: ($) => seq("(", $._name, repeat1(seq(",", $._name)), ")"),
    import: ($) => seq("import", $.string),

    // Definitions for each value of an index.
    each: ($) => seq("for", listed($.domain), braced($.definition, $.alias, $.each)),

    schedule: ($) =>
      seq(
        "schedule", field("name", $._name), optional($.targets), optional($.where),
        optional(braced($.line)),
      ),
    targets: ($) => seq("for", listed($._name)),
    line: ($) => seq(field("func", $._name), optional(choice($.indices, $.range)), repeat1($.step)),
    range: ($) => seq("[", $._expression, "..", optional($._expression), "]"),
    step: ($) => prec.right(seq(".", field("directive", $.directive), optional($.arguments))),
    directive: ($) => choice($._name, "in", "bound"),
    arguments: ($) => seq("(", optional(listed(choice($._expression, $.line, $.option))), ")"),
    option: ($) => seq(field("name", $._name), "=", field("value", $._expression)),

    example: ($) => seq("example", optional(field("name", $._name)), braced($.setting)),
    setting: ($) => seq(field("name", $._name), "=", field("value", $._expression)),

    _cell: ($) => choice($._expression, $.cells),
    cells: ($) => seq("[", listed($._cell), optional(","), "]"),

    _expression: ($) =>
      choice(
        $.let, $.binary, $.unary, $._name, $.number, $.boolean, $.string, $.group, $.values,
        $.access, $.member_access, $.call, $.edge_access, $.reduction,
      ),
    let: ($) =>
      prec.right(
        0,
        seq("let", field("name", $._name), "=", field("value", $._expression), "in", field("body", $._expression)),
      ),
    binary: ($) =>
      choice(
        ...BINARY.map(([binding, operator]) =>
          prec.left(
            binding,
            seq(field("left", $._expression), field("operator", operator), field("right", $._expression)),
          ),
        ),
        prec.right(
          POWER,
          seq(field("left", $._expression), field("operator", "**"), field("right", $._expression)),
        ),
      ),
    unary: ($) =>
      choice(
        prec(NOT, seq(choice("not", "!"), $._expression)),
        prec(SIGN, seq(choice("-", "~"), $._expression)),
      ),
    group: ($) => seq("(", $._expression, ")"),
    values: ($) => seq("(", $._expression, repeat1(seq(",", $._expression)), ")"),
    access: ($) => seq(field("name", $._name), $.indices),
    member_access: ($) => seq(field("name", $._name), field("members", $.indices), $.indices),
    call: ($) => seq(field("function", $._name), "(", optional($._listed), ")"),
    edge_access: ($) => seq(field("function", $._name), "(", optional($._listed), ")", $.indices),
    reduction: ($) =>
      seq(field("function", $._name), "(", $._listed, ":", field("term", $._expression), optional($.where), ")"),
    _listed: ($) => listed(choice($._expression, $.domain)),
    indices: ($) => seq("[", listed($._expression), "]"),

    // Descriptions of instructions.
    _described: ($) => choice($.feature, $.place, $.target, $.instruction),
    feature: ($) => seq("feature", field("name", $._name), $.properties),
    place: ($) => seq("place", field("name", $._name), $.properties),
    target: ($) => seq("target", field("name", $._name), $.string, "uses", listed($._name)),
    instruction: ($) =>
      seq(
        "instruction", field("name", $._name), "(", listed($.operand), ")", "in", field("place", $._name),
        braced($.bounded, $.reduce, $.rounding, $.fragment, $.in_shared, $.definition),
        repeat(choice($.emit, $.cost, $.needs)),
      ),
    operand: ($) => seq(field("name", $._name), ":", field("type", $.type), field("extents", $.indices)),
    bounded: ($) => seq("size", listed($._name), "<=", $.number, optional(seq("step", $.number))),
    rounding: ($) => seq("rounding", $.properties),
    fragment: ($) => seq("fragment", field("name", $._name), $.indices),
    in_shared: ($) => seq("shared", listed($._name)),
    emit: ($) => seq("emit", optional($._name), optional("asm"), $.string),
    cost: ($) => seq("cost", $.properties),
    needs: ($) => seq("needs", listed($._name)),
    properties: ($) => braced($.property),
    property: ($) =>
      seq(
        field("name", $._name),
        field("value", choice($._name, seq(optional("-"), $.number), $.string, $.properties)),
      ),

    type: ($) => $._name,
    // Words that are names wherever they cannot be what they are elsewhere.
    _name: ($) =>
      choice(
        $.identifier,
        alias(choice("aliases", "constant", "feature", "place", "target", "instruction"), $.identifier),
      ),
    identifier: () => /[A-Za-z_][A-Za-z_0-9]*/,
    boolean: () => choice("true", "false"),
    // `2.` is a number, `2..n` an interval: the point alone is a token of its own.
    number: ($) => choice(seq($._integer, optional(token.immediate("."))), $._decimal),
    _integer: () => /[0-9][0-9_]*/,
    _decimal: () =>
      token(
        choice(
          /0[xX][0-9a-fA-F_]+/,
          /[0-9][0-9_]*\.[0-9][0-9_]*([eE][+-]?[0-9]+)?/,
          /\.[0-9][0-9_]*([eE][+-]?[0-9]+)?/,
          /[0-9][0-9_]*\.?[eE][+-]?[0-9]+/,
        ),
      ),
    string: () => /"([^"\\\n]|\\[^\n])*"/,
    comment: () => token(seq("#", /[^\n]*/)),
  },
});
