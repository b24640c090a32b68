"""The lexer of all languages: Lark's contextual one, with one regular expression for all states.

Lark makes an expression of the terminals that a state of the parser takes, for each state: some
forty for a kernel, which take Python longer than the kernel takes to parse. Terminals are tried in
the same order everywhere, so what the expression of all of them finds first is also what a state's
own would, if the state takes it. Only where it does not is the state's own made."""

from __future__ import annotations

from collections.abc import Callable, Collection
from copy import copy
from typing import Any

from lark.common import LexerConf
from lark.lexer import AbstractBasicLexer, BasicLexer, ContextualLexer, Token

Match = Callable[[Any, int], tuple[str, str] | None]
"""The text and the terminal that begin at a place, or None."""


class SharingLexer(ContextualLexer):
    """What Lark takes for its contextual lexer (its plugin of that name)."""

    def __init__(
        self,
        conf: LexerConf,
        states: dict[int, Collection[str]],
        always_accept: Collection[str] = (),
    ) -> None:
        always = {*conf.ignore, *always_accept}
        self.root_lexer = BasicLexer(copy(conf))
        self.lexers = StateLexers(conf, self.root_lexer, states, always)


class StateLexers(dict[int, AbstractBasicLexer]):
    """The lexer of each state, made when it is asked for."""

    def __init__(
        self,
        conf: LexerConf,
        all_terminals: BasicLexer,
        states: dict[int, Collection[str]],
        always: set[str],
    ) -> None:
        self.conf, self.all_terminals, self.states, self.always = (
            conf,
            all_terminals,
            states,
            always,
        )

    def __missing__(self, state: int) -> StateLexer:
        conf = copy(self.conf)
        conf.skip_validation = True  # of terminals that all_terminals has validated
        named = conf.terminals_by_name
        conf.terminals = [named[n] for n in {*self.states[state], *self.always} if n in named]
        lexer = self[state] = StateLexer(conf, self.all_terminals)
        return lexer


class StateLexer(BasicLexer):
    """Finds the terminals that one state takes."""

    def __init__(self, conf: LexerConf, all_terminals: BasicLexer) -> None:
        super().__init__(conf)
        self.find: Match = all_terminals.match
        self.find_own: Match = super().match
        self.keywords = all_terminals
        self.taken = {terminal.name for terminal in conf.terminals}
        self.callback = {}  # filled where the state's own expression is made

    def match(self, text: Any, pos: int) -> tuple[str, str] | None:
        found = self.find(text, pos)
        if found is None:
            return None
        value, terminal = found
        to_keyword = self.keywords.callback.get(terminal)
        if to_keyword is not None:
            terminal = to_keyword(Token(terminal, value)).type
        return (value, terminal) if terminal in self.taken else self.find_own(text, pos)
