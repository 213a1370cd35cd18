"""What a script says in good faith and without effect: an exit that leaves a subshell only, a second default, `set` for
a function whose name begins so, and an assignment with blanks in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from nmlgen.namelist.syntax import SyntaxProblem
from nmlgen.script.assigned import effects
from nmlgen.script.syntax import (
    AndOr,
    ArithmeticFor,
    Case,
    Command,
    For,
    Function,
    Group,
    If,
    Literal,
    Parameter,
    Pipeline,
    Script,
    Sequence,
    Simple,
    While,
    Word,
)

_STARTED_TO_STOP = re.compile(r"#!.*[ \t]-[A-Za-z]*e")
_SET_TO_STOP = re.compile(r"set(?<=\bset)[ \t]+(?:-[A-Za-z]*e|-o[ \t]+errexit)")
_SET = re.compile(r"^[ \t]*(set[ \t]+([a-z]\w*)[ \t]+\w+)", re.MULTILINE)
_GIVES_A_DEFAULT = re.compile(r"eval(?:(?!eval)[^\n])*:=\$\{?2")
_USED = re.compile(r"\$\{?([A-Za-z_]\w*)")
_NAME = re.compile(r"[A-Za-z_]\w*\Z")


def without_effect(script: Script) -> Iterator[SyntaxProblem]:
    """Such places of a script, in their order."""
    text = script.source.text
    functions: list[Function] = []
    bodies: list[Any] = [script.body]
    for body in bodies:
        inner = [node for node in _sequences_below(body) if isinstance(node, Function)]
        functions += inner
        bodies += [function.body for function in inner]
    found: list[SyntaxProblem] = []
    if "exit" in text and not _stops_at_failure(text):
        found += [problem for body in bodies for problem in _of_subshells(script, body)]
    givers = {function.name for function in functions if _GIVES_A_DEFAULT.search(text[function.start : function.end])}
    if givers or ":=" in text:
        for body in bodies:
            found += _of_defaults(script, body, givers)
    names = {function.name for function in functions}
    found += _of_set(script, names)
    found += _of_blanks(script, bodies, names)
    yield from sorted(found, key=lambda problem: (problem.span.line, problem.span.column))


def _stops_at_failure(text: str) -> bool:
    """Whether a script has its shell end where a command fails."""
    if _STARTED_TO_STOP.match(text) is not None:
        return True
    at = 0
    while (match := _SET_TO_STOP.search(text, at)) is not None:
        line_start = text.rfind("\n", 0, match.start()) + 1
        if text.find("#", line_start, match.start()) < 0:
            return True
        at = text.find("\n", match.end())  # the rest of this line is a remark
        if at < 0:
            return False
    return False


def _parts(node: Any) -> Iterator[Any]:
    """The commands right below a command that run in its own shell, in their order."""
    if isinstance(node, Sequence):
        yield from node.commands
    elif isinstance(node, AndOr):
        yield from (node.left, node.right)
    elif isinstance(node, If):
        for condition, body in node.branches:
            yield from (condition, body)
        if node.otherwise is not None:
            yield node.otherwise
    elif isinstance(node, Group) and not node.is_subshell:
        yield node.body


def _sequences_below(root: Any) -> Iterator[Any]:
    """A command and all below it that its own shell runs, functions without what is in them."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        if type(node) is not Simple:  # most are, and have no parts
            waiting += reversed(list(_parts(node)))


# --- ( ...; exit 1 ) ---


def _of_subshells(script: Script, body: Any) -> Iterator[SyntaxProblem]:
    """`command || ( ...; exit 1 )`, where nobody looks at how that ends."""
    for node in _sequences_below(body):
        if not isinstance(node, Sequence):
            continue
        for command, following in pairwise([*node.commands, None]):
            last = command.right if isinstance(command, AndOr) else command
            if (
                isinstance(last, Group)
                and last.is_subshell
                and _ends_with_exit(last)
                and not (_asks(script, following) or _exits(following))
            ):
                span = script.text.span(last.start, last.start + 1)
                message = "exit leaves the ( ) only: the script goes on"
                yield SyntaxProblem("exit-of-subshell", message, span, "{ ...; exit 1; }", stops=False)


def _ends_with_exit(group: Group) -> bool:
    last = group.body.commands[-1] if group.body.commands else None
    return _exit_code(last) not in ("", "0", None) and not group.redirections


def _exit_code(command: Command | None) -> str | None:
    """The operand of an `exit`, empty if it has none; None for what is known to be no such command."""
    if not isinstance(command, Simple) or not command.words:
        return None
    words = [word.literal if isinstance(word, Word) else None for word in command.words]
    return None if words[0] != "exit" else words[1] if len(words) == 2 else "" if len(words) == 1 else None


def _exits(following: Command | None) -> bool:
    """Whether the next command leaves the script as a failure, too: `( exit 1 ); exit` sets what a trap finds."""
    return _exit_code(following) not in ("0", None)


def _asks(script: Script, following: Command | None) -> bool:
    """Whether the next command asks how the last one ended."""
    return following is not None and "$?" in script.source.text[following.start : following.end]


# --- Defaults ---


def _of_defaults(script: Script, body: Any, givers: set[str]) -> Iterator[SyntaxProblem]:
    """A default that a variable gets although it has got another one on the same way."""
    given: dict[str, tuple[str, int]] = {}
    for node, is_certain in _in_order(body):
        if isinstance(node, Simple):
            found = _default(node, givers)
            if found is None:
                for name in effects(node, {}).names if given else ():
                    given.pop(name, None)
                continue
            name, value = found
            earlier = given.get(name)
            if earlier is None:
                if is_certain and value:
                    given[name] = value, script.text.position(node.start)[0]
            elif earlier[0] != value:
                message = f"{name} has got the default {earlier[0]} at line {earlier[1]}: {value} has no effect"
                span = script.text.span(node.start, node.end)
                yield SyntaxProblem("second-default", message, span, "the default that is to hold first", stops=False)
        elif given and not isinstance(node, (Sequence, AndOr, If, Group)):
            for name in effects(node, {}).names:
                given.pop(name, None)


def _in_order(root: Any) -> Iterator[tuple[Any, bool]]:
    """The commands below one in their order, and whether they are run in any case."""
    waiting = [(root, True)]
    while waiting:
        node, is_certain = waiting.pop()
        yield node, is_certain
        if type(node) is Simple:
            continue
        always = is_certain and isinstance(node, (Sequence, Group))
        waiting += reversed([(part, always) for part in _parts(node)])


def _default(node: Simple, givers: set[str]) -> tuple[str, str] | None:
    """The variable and its default, of `: ${name:=value}` and of a call of a function that does this."""
    words = node.words
    first = words[0].literal if words and isinstance(words[0], Word) else None
    if first == ":" and len(words) == 2 and isinstance(words[1], Word) and len(words[1].parts) == 1:
        part = words[1].parts[0]
        if isinstance(part, Parameter) and part.operator == ":=" and part.arguments and part.subscript is None:
            pieces = part.arguments[0].parts
            if all(isinstance(piece, Literal) for piece in pieces):
                return part.name, "".join(piece.text for piece in pieces if isinstance(piece, Literal))
    elif first in givers and len(words) == 3:
        name, value = (word.literal if isinstance(word, Word) else None for word in words[1:])
        if name is not None and value is not None and _NAME.match(name):
            return name, value
    return None


# --- set default ---


def _of_set(script: Script, functions: set[str]) -> Iterator[SyntaxProblem]:
    meant = {name.removeprefix("set_") for name in functions if name.startswith("set_")}
    for match in _SET.finditer(script.source.text) if meant else ():
        if match[2] in meant:
            message = f"set replaces $1, $2 and so on, and calls no function: set_{match[2]} is one"
            span = script.text.span(*match.span(1))
            yield SyntaxProblem("set-for-function", message, span, f"set_{match[2]}", stops=False)


# --- name = value ---


def _of_blanks(script: Script, bodies: list[Any], functions: set[str]) -> Iterator[SyntaxProblem]:
    """`name = value`, of a name that the script uses as a variable."""
    commands = (node for body in bodies for node in _everything_below(body) if isinstance(node, Simple))
    found = [(name, node) for node in commands if (name := _before_blank(node)) is not None and name not in functions]
    used = set(_USED.findall(script.source.text)) if found else set()
    for name, node in found:
        if name in used:
            span = script.text.span(node.words[0].start, node.words[1].end)
            message = f"the shell takes {name} for a command: there is a blank before the ="
            yield SyntaxProblem("blank-in-assignment", message, span, f"{name}=", stops=False)


def _before_blank(node: Simple) -> str | None:
    """The name of `name = value` and `name =value`."""
    words = node.words[:2]
    if len(words) < 2 or not isinstance(words[0], Word) or not isinstance(words[1], Word) or not words[1].parts:
        return None
    name, first = words[0].literal, words[1].parts[0]
    is_assigned = isinstance(first, Literal) and not first.quoted and re.match(r"=(?![=~])", first.text) is not None
    return name if is_assigned and name is not None and _NAME.match(name) else None


def _everything_below(root: Any) -> Iterator[Any]:
    """A command and all below it, in no order, loops, cases and subshells, too, but no functions."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        if type(node) is Simple:
            continue
        waiting += _parts(node)
        if isinstance(node, (For, ArithmeticFor, While)) or (isinstance(node, Group) and node.is_subshell):
            waiting.append(node.body)
        elif isinstance(node, Case):
            waiting += [item.body for item in node.items]
        elif isinstance(node, Pipeline):
            waiting += node.commands
