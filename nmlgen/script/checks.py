"""What a script asks: `test`, `[`, `[[ ]]`, and whether a text matches a pattern."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nmlgen.script.conditions import COMPARISONS, FALSE, Truth, negation, truth
from nmlgen.script.events import Field
from nmlgen.script.patterns import Pattern, UndecidedPattern, matches
from nmlgen.script.posix_expressions import Untranslatable, translate_ere
from nmlgen.script.state import Variable
from nmlgen.script.syntax import TestExpression, TestJoin, TestNot, TestUnary, Word
from nmlgen.script.values import ALWAYS, EMPTY, Place, Possibility, Value, known, text_of, within

if TYPE_CHECKING:
    from nmlgen.script.evaluate import Interpreter

_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_GROUPED = re.compile(r"[?*+@!]\(")
_MAGIC = re.compile(r"[*?\[+@!(]")
_FILES = frozenset(
    ("-f", "-e", "-a", "-s", "-r", "-d", "-w", "-x", "-L", "-h", "-O", "-G", "-N", "-S", "-p", "-b", "-c")
)
_UNARY = _FILES | frozenset(("-g", "-k", "-n", "-t", "-u", "-v", "-z", "-o", "-R"))
_EQUALITIES = frozenset(("=", "==", "!="))
_BINARY = _EQUALITIES | COMPARISONS | frozenset(("<", ">"))
_AGES = frozenset(("-nt", "-ot", "-ef"))


class Checks:
    """Answers questions in the state that an interpreter is in."""

    def __init__(self, shell: Interpreter) -> None:
        self.shell = shell

    # --- [[ ]] ---

    def truth(self, expression: TestExpression) -> Truth:
        """The truth of an expression within `[[ ]]`."""
        shell = self.shell
        if isinstance(expression, TestNot):
            return negation(self.truth(expression.operand))
        if isinstance(expression, TestJoin):
            left = self.truth(expression.left)
            joint = shell.questions.both if expression.operator == "&&" else shell.questions.one_of
            return joint(left, lambda: self.truth(expression.right))
        if isinstance(expression, TestUnary):
            return self._unary(expression)
        operator = expression.operator
        left_value = within(shell.words.text(expression.left), shell.guard)
        if operator in _EQUALITIES:
            same = self.matches(left_value, expression.right, always_extglob=True)
            return negation(same) if operator == "!=" else same
        if operator == "=~":
            shell.assignments.forget("BASH_REMATCH")
            return self._regular(left_value, expression.right)
        right_value = within(shell.words.text(expression.right), shell.guard)
        if operator in COMPARISONS:
            place = Place(shell.text, expression.left.start, expression.right.end)
            values = [shell.words.calculated(value, place) for value in (left_value, right_value)]
            return shell.questions.every_way(
                values, lambda cases: shell.questions.compare(operator, cases[0], cases[1])
            )
        if operator in ("<", ">"):
            return shell.questions.every_way([left_value, right_value], lambda cases: self._sorted(operator, *cases))
        return shell.questions.ask()

    def _sorted(self, operator: str, one: Possibility, two: Possibility) -> Truth:
        """Which of two texts comes first, which depends on the locale but for digits."""
        if not (one.text.isdecimal() and two.text.isdecimal()) or one.symbols or two.symbols:
            return self.shell.questions.ask()
        return truth(one.text < two.text if operator == "<" else one.text > two.text)

    def _regular(self, value: Value, word: Word) -> Truth:
        shell = self.shell
        rows = shell.words.pattern(word)

        def decide(cases: tuple[Possibility, ...]) -> Truth:
            first, *rest = cases
            if any(case.symbols for case in cases) or "nocasematch" in shell.state.options:
                return shell.questions.ask()
            pairs = tuple([(case.text, quoted) for case, (_, quoted) in zip(rest, rows, strict=True)])
            shell.effort.spent += len(first.text) // 2 + 10 * sum(len(text) for text, _ in pairs)
            try:
                expression = translate_ere(pairs)
                shell.effort.spent += 2 * expression.effort(first.text)
                is_found = expression.is_found(first.text)
            except Untranslatable:
                return shell.questions.ask()
            certain = expression.has_certain_span and shell.is_ksh is False
            if certain and len(value) == 1 and all(len(row) == 1 for row, _ in rows):
                found = expression.search(first.text)
                groups = [found[0], *found.groups(default="")] if found else []
                elements = {str(number): known(text) for number, text in enumerate(groups)}
                shell.state.variables["BASH_REMATCH"] = Variable(EMPTY, elements)
            return truth(is_found)

        return shell.questions.every_way([value, *(within(row, shell.guard) for row, _ in rows)], decide)

    def _unary(self, expression: TestUnary) -> Truth:
        operator, shell = expression.operator, self.shell
        if operator == "-v":
            name = expression.operand.literal
            return self.is_set(name) if name is not None and _NAME.match(name) else shell.questions.ask()
        value = within(shell.words.text(expression.operand), shell.guard)
        return self.ask_unary(operator, value)

    def is_set(self, name: str) -> Truth:
        """Whether a variable is set."""
        shell = self.shell
        variable = shell.variable(name)
        if variable.elements is not None:
            if variable.is_open or shell.is_ksh is not False:
                return shell.questions.ask()
            variable = variable._replace(value=variable.elements.get("0") or (Possibility(ALWAYS, "", (), False),))
        return shell.questions.every_way(
            [within(variable.value, shell.guard)], lambda cases: self._is_set(name, cases[0])
        )

    def _is_set(self, name: str, case: Possibility) -> Truth:
        if case.is_set is not None:
            return truth(case.is_set)
        return self.shell.questions.ask(("set", name, case.symbols))

    def ask_unary(self, operator: str, value: Value) -> Truth:
        """`-n text`, `-z text`, and what is asked of files."""
        questions = self.shell.questions
        if operator in ("-n", "-z"):
            asked = questions.every_way([value], lambda cases: questions.is_empty(cases[0]))
            return asked if operator == "-z" else negation(asked)
        if operator not in _FILES:
            return questions.ask()
        path = text_of(value)
        if path == "":
            return FALSE
        if operator in ("-d", "-e") and path is not None and path.rstrip("/") in (".", ".."):
            return truth(True)
        return questions.ask_of_file(value)

    # --- Patterns ---

    def extglob(self, pattern: Pattern) -> bool:
        """Whether `@(a|b)` and its kin are patterns; raises UndecidedPattern if that depends on the shell."""
        shell = self.shell
        if shell.is_ksh:
            return True
        option = shell.state.options.get("extglob", False)
        depends = option is None or (shell.is_ksh is None and not option)
        if depends and _GROUPED.search("".join([" " if quoted else text for text, quoted in pattern])):
            raise UndecidedPattern("a pattern that only some shells know")
        return bool(option)

    def matches(self, word: Value, pattern: Word, *, always_extglob: bool = False) -> Truth:
        """Whether a text matches a pattern."""
        shell = self.shell
        rows = shell.words.pattern(pattern)

        def decide(cases: tuple[Possibility, ...]) -> Truth:
            first, *rest = cases
            if any(case.symbols for case in rest):
                return shell.questions.ask()
            pairs = tuple([(case.text, quoted) for case, (_, quoted) in zip(rest, rows, strict=True)])
            found = self._matches(first, pairs, always_extglob)
            ignores_case = shell.state.options.get("nocasematch", False) is not False
            return shell.questions.ask() if ignores_case and any(not answer for _, answer in found) else found

        return shell.questions.every_way([word, *(within(row, shell.guard) for row, _ in rows)], decide)

    def _matches(self, text: Possibility, pattern: tuple[tuple[str, bool], ...], always_extglob: bool) -> Truth:
        questions = self.shell.questions
        if not any(not quoted and (_MAGIC.search(row) or "\\" in row) for row, quoted in pattern):
            return questions.equal(text, Possibility(ALWAYS, "".join([row for row, _ in pattern])))
        if not text.symbols:
            try:
                return truth(
                    matches(
                        pattern, text.text, extglob=always_extglob or self.extglob(pattern), effort=self.shell.effort
                    )
                )
            except UndecidedPattern:
                return questions.ask()
        if all(not quoted and row.strip("*") == "" for row, quoted in pattern):
            return truth(True)
        return questions.ask(("matches", text[1:3], pattern))

    # --- test ---

    def test(self, arguments: list[Field]) -> Truth:
        """`test arguments`."""
        shell = self.shell
        if any(item.is_vague for item in arguments) and not _is_plain(arguments):
            return shell.questions.ask()
        values = [within(item.value, shell.guard) for item in arguments]
        return shell.questions.every_way(values, lambda cases: _Arguments(self, list(cases)).answer())


def _is_plain(arguments: list[Field]) -> bool:
    """`[ -z $x ]` with an empty or one-word `$x`, and `[ $x = y ]`, where what is vague is one word as a rule."""
    operators = [text_of(item.value) for item in arguments]
    if len(arguments) == 2 and operators[0] in ("-z", "-n"):
        return operators[0] == "-z"
    return len(arguments) == 3 and operators[1] in _EQUALITIES | COMPARISONS


class _Arguments:
    """The arguments of `test`, as POSIX reads them."""

    def __init__(self, checks: Checks, words: list[Possibility]) -> None:
        self.checks, self.words = checks, words
        self.questions = checks.shell.questions

    def answer(self) -> Truth:
        words = self.words
        if not words:
            return FALSE
        if len(words) == 1:
            return negation(self.questions.is_empty(words[0]))
        found = self._either()
        return self.questions.ask() if self.words else found

    def _next(self) -> str | None:
        if not self.words:
            return None
        return None if self.words[0].symbols else self.words[0].text

    def _either(self) -> Truth:
        found = self._both()
        while len(self.words) > 1 and self._next() == "-o":
            del self.words[0]
            other = self._both()
            found = self.questions.one_of(found, lambda other=other: other)  # type: ignore[misc]
        return found

    def _both(self) -> Truth:
        found = self._single()
        while len(self.words) > 1 and self._next() == "-a":
            del self.words[0]
            other = self._single()
            found = self.questions.both(found, lambda other=other: other)  # type: ignore[misc]
        return found

    def _single(self) -> Truth:
        words, ask = self.words, self.questions.ask
        if not words:
            return ask()
        first = self._next()
        operator = words[1].text if len(words) >= 3 and not words[1].symbols else ""
        if operator in _BINARY:
            one, two = words[0], words[2]
            del words[:3]
            return self._compared(operator, one, two)
        if first == "!" and len(words) > 1:
            del words[0]
            return negation(self._single())
        if first == "(" and len(words) > 2:
            del words[0]
            found = self._either()
            if self._next() != ")":
                return ask()
            del words[0]
            return found
        if operator in _AGES:
            del words[:3]
            return ask()
        if first in _UNARY and len(words) > 1:
            operand = words[1]
            del words[:2]
            if first == "-v" and not operand.symbols and _NAME.match(operand.text):
                return self.checks.is_set(operand.text)
            return self.checks.ask_unary(first or "", (operand,))
        operand = words.pop(0)
        return negation(self.questions.is_empty(operand))

    def _compared(self, operator: str, one: Possibility, two: Possibility) -> Truth:
        if operator in COMPARISONS:
            return self.questions.compare(operator, one, two)
        if operator in ("<", ">"):
            return self.questions.ask()
        same = self.questions.equal(one, two)
        return negation(same) if operator == "!=" else same
