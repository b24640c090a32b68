// The grammar of `.sf` files, sketches of data movement, for editors. hbc's own is frontend/sketch/sf.lark;
// the order of the rules is its.

// How tightly operators bind, as PRECEDENCE in frontend/sketch/tree.py.
const BINARY = [
  [1, "or"],
  [2, "and"],
  [4, choice("==", "!=", "<", "<=", ">", ">=")],
  [5, "^"],
  [6, "&"],
  [7, choice("<<", ">>")],
  [8, choice("+", "-")],
  [9, choice("*", "/", "%")],
];
const NOT = 3;
const SIGN = 10;

const listed = (rule) => seq(rule, repeat(seq(",", rule)));

module.exports = grammar({
  name: "hbc_sketch",
  word: ($) => $.identifier,
  extras: ($) => [/[ \t\r\n\f]/, $.comment],
  supertypes: ($) => [$._statement, $._expression],
  conflicts: ($) => [[$.family]],

  rules: {
    source_file: ($) => seq(optional($.version), repeat(choice($._statement, ";"))),
    version: () => token(prec(3, seq("hbc", /[ \t]+/, /[0-9]+/))),

    _statement: ($) => choice($.param, $.import, $.define, $.goal, $.set),

    param: ($) =>
      seq(
        "param", field("name", $._name), "=", field("value", $._expression),
        optional(seq("in", $.choices)),
      ),
    choices: ($) => seq("{", listed($._expression), "}"),
    import: ($) => seq("import", $.string),
    define: ($) =>
      seq(
        field("name", $._name), ":", field("shape", $.shape),
        optional(seq("=", field("value", choice($._expression, $.block)))),
      ),
    block: ($) => seq("{", repeat(choice($.define, ";")), $._expression, "}"),
    goal: ($) => seq("goal", field("name", $._name), "==", field("value", $._expression)),
    shape: ($) => seq("[", optional(listed($._expression)), "]"),

    set: ($) =>
      seq(
        choice("set", "gather"), field("name", $._name), optional($.options), optional($.parameters),
        optional(seq("->", field("shape", $.shape))), "=", $._part, repeat(seq("|", $._part)),
      ),
    parameters: ($) => seq("(", listed($.parameter), ")"),
    parameter: ($) => seq(field("name", $._name), optional(seq(":", field("shape", $.shape)))),
    _part: ($) => choice($.family, $.table, $.delegate),
    family: ($) =>
      seq(
        $.lambda, optional(seq("for", listed($.binder))), optional(seq("where", $._expression)),
        optional(seq("as", $.string, optional(seq("cost", $.number)))),
      ),
    table: ($) => seq("table", $.list),
    delegate: ($) => seq(field("name", $._name), optional($.options)),
    binder: ($) => seq(optional($.each), field("name", $._name), "in", $._range),
    each: ($) => seq("each", optional(seq("(", $._expression, ")"))),
    _range: ($) => choice($.interval, $.choices),
    interval: ($) => seq($._expression, optional(seq("..", $._expression))),
    options: ($) => seq("{", listed($.option), "}"),
    option: ($) => seq(field("name", $._name), optional(seq("=", field("value", $._expression)))),

    _expression: ($) =>
      choice(
        $.conditional, $.lambda, $.binary, $.unary, $._name, $.number, $.coefficient, $.blank, $.group,
        $.read, $.call, $.fold, $.list, $.comprehension,
      ),
    conditional: ($) =>
      prec.right(
        seq(
          "if", field("condition", $._expression), "then", field("value", $._expression),
          "else", field("otherwise", $._expression),
        ),
      ),
    lambda: ($) => prec.right(seq("\\", listed($._name), ".", field("body", $._expression))),
    binary: ($) =>
      choice(
        ...BINARY.map(([binding, operator]) =>
          prec.left(
            binding,
            seq(field("left", $._expression), field("operator", operator), field("right", $._expression)),
          ),
        ),
      ),
    unary: ($) =>
      choice(prec(NOT, seq("not", $._expression)), prec(SIGN, seq("-", $._expression))),
    // `3i` is `3 * i`.
    coefficient: ($) => seq($.number, alias(token.immediate(/[A-Za-z]\w*/), $.identifier)),
    blank: () => "_",
    group: ($) => seq("(", $._expression, ")"),
    read: ($) => prec(12, seq(field("name", $._name), "[", listed($._expression), "]")),
    call: ($) =>
      prec.right(
        12,
        seq(
          field("function", choice($.hole, $._name)), optional($.options), $.arguments,
          optional($.arguments),
        ),
      ),
    hole: ($) => seq("?", $._name),
    arguments: ($) => seq("(", optional(listed(choice($._expression, $.named))), ")"),
    named: ($) => seq(field("name", $._name), "=", field("value", $._expression)),
    fold: ($) =>
      prec.right(
        11,
        seq("fold", optional($.operation), choice($._expression, seq($.multiset, optional($.group)))),
      ),
    operation: () =>
      token(prec(2, seq("(", /\s*/, choice("+", "*", "max", "min", "&", "|", "^"), /\s*/, ")"))),
    multiset: ($) => seq("{", optional(listed(choice($._expression, $.named))), "}"),
    list: ($) =>
      seq("[", optional(listed(choice($._expression, $.ellipsis))), optional(","), "]"),
    ellipsis: ($) => seq("...", optional($._expression)),
    comprehension: ($) => prec.right(seq("[", listed($.comprised), "]", $._expression)),
    comprised: ($) => seq(field("name", $._name), "in", $._expression),

    number: () => /[0-9]+/,
    string: () => /"[^"\n]*"/,
    // Words that are names wherever they cannot be what they are elsewhere.
    _name: ($) => choice($.identifier, alias(choice("each", "as", "cost"), $.identifier)),
    identifier: () => /([A-Za-z]|_[A-Za-z0-9_])\w*/,
    comment: () => token(seq("#", /[^\n]*/)),
  },
});
