"""A template of a script as a function in Python: no build has to import Jinja2, and to read the template with it.

`python docs/generate.py` writes it, of what the template of a job has; anything else is an error there. A value that
is not given is an error of the function, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from jinja2 import nodes

from nmlgen.render.templates import FILTERS, environment

_HEAD = '''"""What `templates/{name}` prints, translated by `python docs/generate.py`: change the template."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nmlgen.render import shell
from nmlgen.render.templates import quoted


def render(given: Mapping[str, Any]) -> str:
    """The text with the values that are given."""
    text: list[str] = []
'''
_OPERATORS = {"eq": "==", "ne": "!=", "lt": "<", "lteq": "<=", "gt": ">", "gteq": ">="}
_Names = frozenset[str]
"""Names that the loops around give; all others are given to the function."""


def translated(name: str) -> str:
    """The module of which the function prints what the template of that name does."""
    lines = _lines(_parsed(name), _Names())
    return _HEAD.format(name=name) + "".join(f"    {line}\n" for line in lines) + '    return "".join(text)\n'


def _parsed(name: str) -> list[nodes.Node]:
    reader = environment()
    text, *_ = reader.loader.get_source(reader, name)
    body: list[nodes.Node] = reader.parse(text, name).body
    return body


def _lines(body: Iterable[nodes.Node], local: _Names) -> Iterator[str]:
    for node in body:
        match node:
            case nodes.Output():
                yield "text += ["
                for part in node.nodes:
                    yield from (f"    {line}" for line in _printed(part, local))
                yield "]"
            case nodes.If():
                yield from _if("if", node, local)
            case nodes.For(else_=[], test=None, recursive=False):
                names = [_free(target.name, local) for target in getattr(node.target, "items", [node.target])]
                yield f"for {', '.join(names)} in {_value(node.iter, local)}:"
                yield from _indented(node.body, local.union(names))
            case nodes.Include(template=nodes.Const(value=name)):
                yield from _lines(_parsed(name), local)
            case _:
                raise _unknown(node)


def _if(word: str, node: nodes.If, local: _Names) -> Iterator[str]:
    yield f"{word} {_value(node.test, local)}:"
    yield from _indented(node.body, local)
    for other in node.elif_:
        yield from _if("elif", other, local)
    if node.else_:
        yield "else:"
        yield from _indented(node.else_, local)


def _indented(body: Iterable[nodes.Node], local: _Names) -> Iterator[str]:
    return (f"    {line}" for line in _lines(body, local))


def _free(name: str, local: _Names) -> str:
    if name in local or name in ("given", "text", "shell", "quoted"):
        raise ValueError(f"a loop gives {name!r}, which is there already")
    return name


def _printed(node: nodes.Expr, local: _Names) -> Iterator[str]:
    if isinstance(node, nodes.TemplateData):
        *before, last = node.data.splitlines(keepends=True)
        yield from (repr(line) for line in before)  # side by side they are one text
        yield f"{last!r},"
    elif isinstance(node, nodes.Filter) and node.name in FILTERS:
        yield f"{_value(node, local)},"
    else:
        yield f"quoted({_value(node, local)}),"


def _value(node: Any, local: _Names) -> str:
    match node:
        case nodes.Name():
            return node.name if node.name in local else f"given[{node.name!r}]"
        case nodes.Const():
            return repr(node.value)
        case nodes.List():
            return f"[{', '.join(_value(item, local) for item in node.items)}]"
        case nodes.Getattr():
            return f"{_value(node.node, local)}[{node.attr!r}]"
        case nodes.Getitem():
            return f"{_value(node.node, local)}[{_value(node.arg, local)}]"
        case nodes.Slice(stop=None, step=None):
            return f"{_value(node.start, local)}:"
        case nodes.Not():
            return f"(not {_value(node.node, local)})"
        case nodes.And() | nodes.Or():
            word = "and" if isinstance(node, nodes.And) else "or"
            return f"({_value(node.left, local)} {word} {_value(node.right, local)})"
        case nodes.Compare(ops=[operand]):
            return f"({_value(node.expr, local)} {_OPERATORS[operand.op]} {_value(operand.expr, local)})"
        case nodes.Filter(kwargs=[], dyn_args=None, dyn_kwargs=None):
            return _filtered(node, [_value(part, local) for part in (node.node, *node.args)])
    raise _unknown(node)


def _filtered(node: nodes.Filter, values: list[str]) -> str:
    match node.name, values:
        case "list", [value]:
            return f"list({value})"
        case "length", [value]:
            return f"len({value})"
        case "selectattr", [value, name]:
            return f"(item for item in {value} if item[{name}])"
        case "map", [value, _]:
            return f"map(shell.{FILTERS[node.args[0].as_const()].__name__}, {value})"
        case name, _ if name in FILTERS:
            return f"shell.{FILTERS[name].__name__}({', '.join(values)})"
    raise _unknown(node)


def _unknown(node: nodes.Node) -> ValueError:
    return ValueError(f"line {node.lineno}: nothing says how {node!r} is written in Python")
