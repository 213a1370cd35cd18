"""ruamel.yaml's nodes of a text; whatever it stops at is an error of its own, with a place."""

from __future__ import annotations

from typing import Any

_NO_SUCH_VERSION = "no version of YAML but 1.1 and 1.2 is read"
_BEYOND = "these digits stand for no character, and for no version of YAML"


def composed(text: str, composer: type[Any] | None = None) -> Any:
    """The root of the nodes, None of an empty text; a `composer` of one's own may make them.

    Raises ruamel.yaml's YAMLError, and RecursionError where nodes lie too deep.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.composer import Composer
    from ruamel.yaml.error import MarkedYAMLError, StringMark

    def refused(problem: str, index: int) -> MarkedYAMLError:
        line, column = text.count("\n", 0, index), index - text.rfind("\n", 0, index) - 1
        return MarkedYAMLError(problem=problem, problem_mark=StringMark("", index, line, column, None, None))

    class Placed(composer or Composer):  # type: ignore[misc,unused-ignore]
        def get_single_node(self) -> Any:
            try:
                return super().get_single_node()
            except (AssertionError, KeyError):  # of nothing else; KeyError where the directive stands within a document
                raise refused(_NO_SUCH_VERSION, text.rfind("%YAML", 0, yaml.reader.index)) from None
            except (ValueError, OverflowError):  # of int and chr, to which any digits are handed
                raise refused(_BEYOND, yaml.reader.index) from None

    yaml = YAML(typ="safe", pure=True)
    yaml.Composer = Placed
    return yaml.compose(text)
