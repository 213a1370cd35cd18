"""The #SBATCH lines of a script, read as sbatch reads them.

sbatch looks at the lines before the first command. The words of all its lines make one command line: an option at the
end of a line takes its value from the next. Everything here was observed with Slurm 22.05.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any

from nmlgen.experiment.machine import OF_PLUG_INS
from nmlgen.experiment.setting import Certainty, Origin, Setting, unknown
from nmlgen.findings import Edit, Fix, most_like, nearest, suggestion
from nmlgen.namelist.placeholders import has_word_for_number, is_named_template, stands_for_number, stands_for_numbers
from nmlgen.namelist.syntax import SyntaxProblem
from nmlgen.schedulers.slurm.values import (
    COUNTS,
    MAIL_TYPES,
    asked_resources,
    node_names,
    read_value,
    unheeded,
    without_limit,
)
from nmlgen.script.options import MOST_WORDS, GivenOption, StaticWord, read_options, slurm_options, too_many_words
from nmlgen.script.templates import without_directives
from nmlgen.source import Source, Span, Stretches, Text
from nmlgen.values import evolve, frozen

LAYER = "#SBATCH"
PLUGIN_OPTION = "plugin-option"
"""The kind of the problem with an option that only a plug-in of a site's Slurm could know."""
MEMORY_TWICE = "memory-twice"
"""The kind of the problem with memory for each node and each CPU, which a rule tells of where a model is run."""
"""The layer that speaks in the settings."""

_MAGIC = ("#SBATCH", "#SLURM")
_BYTE_ORDER_MARK = "\ufeff"
_MOST_FOREIGN = 1_000  # lines for other batch systems that are told
_SPACE = " \t\n\v\f\r"
_ANY = re.compile(r"#[ \t]*(?:S[A-Z]{4,6}|PBS|BSUB)", re.IGNORECASE)
_LATER = re.compile(r"^[ \t]*#SBATCH(?=[ \t]*(?:-|(?:het|pack)job\b))[^\n]*", re.MULTILINE)
_FOREIGN = re.compile(r"^#(PBS|BSUB)(?=[ \t])[^\n]*", re.MULTILINE)
_MEANT = (
    (re.compile(r"[ \t]+#SBATCH[ \t]*-"), "it is indented"),
    (re.compile(r"#[ \t]+SBATCH[ \t]+--?[A-Za-z]"), "a blank follows the #"),
    (re.compile(r"#(?!SBATCH)(?i:sbatch)[ \t]+--?[A-Za-z]"), "it is not in upper case"),
)
_WORD = re.compile(r"[ \t]*#[ \t]*[A-Za-z]*")
_MISSPELT = re.compile(r"#([A-Z]{5,7})[ \t]+--[a-z]")
_SYNTAX = f"{_SPACE}#:'\"\\"
_MASKS = "".join(chr(0xD800 + number) for number in range(len(_SYNTAX)))
_MASKED, _UNMASKED = str.maketrans(_SYNTAX, _MASKS), str.maketrans(_MASKS, _SYNTAX)
"""Within a template nothing is syntax of sbatch's; what stands for it then is in no text that was decoded."""
_TEMPLATE = re.compile(  # no remark begins behind a =, or ends in a #
    r"\{\{.{,200}?\}\}|\{%.{,200}?%\}|<%.{,200}?%>|<[-=*. ]{,20}[A-Za-z_][^<>\"'#\n]{,200}>|##[A-Za-z]\w{,99}##"
    r"|(?<==)#+[A-Za-z_]\w{,99}#*|(?<=[ \t])#\*?[A-Z]\w{,99}\*?#?(?<=[*#])(?=[ \t]|$)"
    r"|@\((?=[^@\n]{,99}@[A-Z]).{,400}?\)@"  # SimFactory's @("@ID@" != "" ? "-d afterany:@ID@" : "")@
)
_FORM = re.compile(  # [your account], {Partition Name}, $PY_CODE_GEN N*2$, ***your mail***; between quotes it is a text
    r"\[[A-Za-z][^][ \"'#\n]{,99} [^][\"'#\n]{,99}\]|\{[A-Za-z][^{} \"'#\n]{,99} [^{}\"'#\n]{,99}\}"
    r"|\$[A-Z][A-Z_]{,99} [^$\"'#\n]{1,99}\$(?!\S)|\{ [A-Za-z][^{}\"'#\n]{,99} \}"
    r"|\{[0-9]+\.[A-Za-z][^{}\n]{,99}\}|\*{2,9}[A-Za-z][^*\"'#\n]{,99}\*{2,9}"
)
_PLACEHOLDER = re.compile(
    _TEMPLATE.pattern + r"|@\[[A-Za-z_]\w{,99}\]|\{[^{}\s|]{1,99}(?:\|[^{}\s|]{1,99}){1,99}\}"
    r"|(?<!\$)\{(?:[A-Za-z_][\w.]{,99}|[0-9]?)\}|__\w{1,99}?__|%\(\w{1,99}\)[-0-9.]{,5}[a-z]|%\{[^}]{,200}\}|@\w{1,99}@"
    r"|(?<![\w.@])@[A-Z][A-Z0-9_]{1,99}(?![\w@])|%[A-Z_][A-Z0-9_.]{0,98}[A-Z0-9](?::[^%\n]{,99})?%|\A#+[*A-Za-z_]"
)
_OF_NO_VALUE = re.compile(r"[<>{}|!?]|\*(?![0-9 ])|(?<![\w-])[*#]")
"""What stands in the place of a value in a template or a form of any kind; nobody means it for sbatch."""
_SHELL = re.compile(r"\$[A-Za-z_{(]|`|^~")
_YOUR = re.compile(r"(?:^|=)your\Z|^[\[(<-]+at[\])>-]+\Z", re.IGNORECASE)  # your email, jane [at] doe.org
_MARK = re.compile(r"\.{3,}|(?i:xxx)\w+|[\[(<-]+at[\])>-]+")  # XXXqueueXXX
_SETS = re.compile(r"(?<![\w$-])[A-Za-z_]\w*(?==)|(?:(?<=\bfor )|(?<=\bread ))[A-Za-z_]\w*")
_LEFT_OUT = re.compile(r"\n#SBATCH[ \t][^\n]*[=:](?:[ \t]*|[ \t]+#[^\n]*)$", re.MULTILINE)  # also with a remark
_OF_A_PERSON = frozenset(("account", "error", "job-name", "mail-user", "output", "partition", "qos", "reservation"))
"""What one who passes a script on leaves out, and who takes it fills in."""
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)")
_COMPONENTS = ("hetjob", "packjob")
_SAID_FOR_EACH = ("partition", "constraint")
"""Options that no later part of a heterogeneous job takes from the first, and that each means as a rule; what asks for
nodes, tasks and GPUs is not handed on, either (Slurm 22.05)."""

_SAME = {"no-requeue": "requeue", "tasks-per-node": "ntasks-per-node", "cluster": "clusters"}
_RENAMED = {"workdir": "chdir", "share": "oversubscribe", "mem_bind": "mem-bind", "account-freq": "acctg-freq"}
_ADDED_UP = "mail-type"
_LONGEST_SUM = 1_000  # characters; of more nothing is known
_MEMORY = ("mem", "mem-per-cpu", "mem-per-gpu")
_RESOURCE_OPTIONS = ("gres", "gpus", "gpus-per-node", "gpus-per-socket", "gpus-per-task")
_NUMBERS = (*_MEMORY, "nodes", *COUNTS)
_SEVERAL_NUMBERS = ("array", "begin", "deadline", "time", "time-min")
_RULES_LOOK = ("output", "error", "job-name", "comment")  # at shell variables in these: the rules on directives

# What the letters of other batch systems set, where sbatch obeys them; those of -l are many.
_RESOURCES = ("nodes", "ntasks", "ntasks-per-node", "cpus-per-task", "time", "mem", "mem-per-cpu", "nodelist", "gres")
_PBS: Mapping[str, tuple[str, ...]] = {
    "A": ("account",),
    "J": ("array",),
    "M": ("mail-user",),
    "N": ("job-name",),
    "V": ("export",),
    "W": ("dependency",),
    "a": ("begin",),
    "e": ("error",),
    "h": ("hold",),
    "j": ("error",),
    "l": _RESOURCES,
    "m": ("mail-type",),
    "o": ("output",),
    "p": ("nice",),
    "q": ("partition",),
    "r": ("requeue",),
    "t": ("array",),
    "v": ("export",),
}
_BSUB: Mapping[str, tuple[str, ...]] = {
    "J": ("job-name",),
    "M": ("mem", "mem-per-cpu"),
    "W": ("time",),
    "c": ("time",),
    "e": ("error",),
    "m": ("nodelist",),
    "n": ("ntasks",),
    "o": ("output",),
    "q": ("partition",),
    "x": ("exclusive",),
}


@frozen(eq=False)
class Directives:
    """What the #SBATCH lines of a script ask for.

    `settings` is keyed by sbatch's long option names, with values as a spec's `job` section gives them; the history of
    each holds what earlier lines said. `problems` is what Slurm ignores, refuses or reads otherwise than it was meant.
    `span` is the first directive that is read, None without any, `lines` the numbers of all lines that are read,
    `scheduler` the batch system that reads them. `parts` are those of a heterogeneous job, each with what it asks for
    by itself; of such a job `settings` are unknown, as nobody can tell which part runs the model.
    """

    settings: Mapping[str, Setting]
    problems: tuple[SyntaxProblem, ...] = ()
    span: Span | None = None
    lines: tuple[int, ...] = ()
    parts: tuple[Mapping[str, Setting], ...] = ()
    scheduler: str = "slurm"


def read_directives(source: Source, bodies: Iterable[tuple[int, int]] = ()) -> Directives:
    """Read the directives of a script; any text has some, if only none.

    `bodies` are the stretches of the text that are here-documents: what looks like a directive there belongs to
    another script. Slurm itself looks into them for #PBS and #BSUB lines.
    """
    if not _ANY.search(source.text):
        return Directives({})
    return _Reading(Text(source), Stretches(bodies)).directives()


class _Reading:
    """One reading of a script."""

    def __init__(self, text: Text, bodies: Stretches) -> None:
        self.text = text
        self.bodies = bodies
        self.problems: list[SyntaxProblem] = []
        self._is_template = is_named_template(text.source.name)
        self.words: list[StaticWord] = []
        self._swallowed: set[Span] = set()
        self._for_somebody: set[Span] = set()  # swallowed by what a person fills in
        self.read: list[Span] = []
        self.components: list[int] = []
        self.breaks: list[Span] = []
        self.parts: list[dict[str, Setting]] = []
        self.settings: dict[str, Setting] = {}

    def directives(self) -> Directives:
        end = self._head()
        self._options()
        self._memory()
        self._later(end)
        if self.read:
            self._whole_script(end)
            self._foreign()
        if self.components:  # each has its own; which runs the model, nobody can tell
            self._forget({*self.settings, "ntasks"})
        if self.components:
            self._of_parts()
        left_out = len(_LEFT_OUT.findall(f"\n{self.text.text}"))
        left_out += sum(one.kind in ("wants-value", "swallowed-option") for one in self.problems)
        if left_out > 1:  # a form, which somebody fills in
            self.problems = [evolve(one, stops=False) if _is_left_out(one) else one for one in self.problems]
        found = sorted(self.problems, key=lambda problem: (problem.span.line, problem.span.column))
        lines = tuple(span.line for span in self.read)
        parts = tuple(self.parts) if self.components else ()
        return Directives(self.settings, tuple(found), self.read[0] if self.read else None, lines, parts)

    def _problem(
        self, kind: str, message: str, span: Span | None, expected: str, stops: bool = True, fix: Fix | None = None
    ) -> None:
        assert span is not None
        self.problems.append(SyntaxProblem(kind, message, span, expected, stops and not self._is_template, fix))

    # --- Lines ------------------------------------------------------------------------------------------------

    def _head(self) -> int:
        """Read the lines before the first command; returns where that begins."""
        text, filled_in = self.text.text, without_directives(self.text.text)
        at = len(text) - len(text.removeprefix(_BYTE_ORDER_MARK))
        while at < len(text):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            line = text[at:end]
            magic = next((magic for magic in _MAGIC if line.startswith(magic)), None)
            if magic is not None:
                self.read.append(self.text.span(at, at + len(magic)))
                self._words(at + len(magic), end)
            elif filled_in[at:end].lstrip(_SPACE)[:1] not in ("", "#"):
                return at
            else:
                self._ignored(line, at)
            at = end + 1
        return at

    def _ignored(self, line: str, at: int) -> None:
        why = next((why for pattern, why in _MEANT if pattern.match(line)), None)
        misspelt = _MISSPELT.match(line)
        if misspelt is not None and misspelt[1] != "SBATCH" and most_like(misspelt[1], ["SBATCH"], 0.8):
            why = f"#{misspelt[1]} is not #SBATCH"
        word = _WORD.match(line)
        if why is not None and word is not None:
            shown = line.strip(_SPACE)
            start = at + len(line) - len(line.lstrip(_SPACE))
            self._problem(
                "ignored-directive",
                f'Slurm does not read "{shown}": {why}',
                self.text.span(start, start + len(shown)),
                "#SBATCH at the beginning of the line; ##SBATCH for a line that is switched off",
                stops=False,
                fix=_written("#SBATCH", self.text.span(at, at + word.end())),
            )

    def _of_parts(self) -> None:
        """What is wrong with the parts of a heterogeneous job."""
        for part in self.parts:
            if "array" in part:
                where = part["array"].name_span or part["array"].span
                self._problem("exclusive-options", "a heterogeneous job is no array", where, "--array or hetjob")
        first, *others = self.parts
        for number, (there, part) in enumerate(zip(self.breaks, others, strict=True), start=1):
            if not part or (number == 1 and not first):
                self._problem(
                    "empty-part",
                    f"part {number if not part else 0} of the job asks for nothing, and has one task",
                    there,
                    "hetjob between the options of one part and those of the next",
                    stops=False,
                )
                continue
            for name in _SAID_FOR_EACH:
                is_meant = name == "partition" or _is_alike(first.get("partition"), part.get("partition"))
                if name in first and name not in part and is_meant:
                    self._problem(
                        "not-inherited",
                        f"part {number} of the job has no --{name}: that of part 0 is not handed on",
                        there,
                        f"--{name} in each part",
                        stops=False,
                    )

    def _later(self, end: int) -> None:
        if self.text.text.find("#SBATCH", end) < 0:  # as a rule
            return
        for match in _LATER.finditer(self.text.text, end):
            if match.start() not in self.bodies:
                start = match.start() + len(match[0]) - len(match[0].lstrip(_SPACE))
                command = self.text.position(end)[0]
                self._problem(
                    "directive-after-command",
                    f'Slurm does not read "{match[0].strip(_SPACE)}": the first command stands at line {command}',
                    self.text.span(start, start + len(match[0].strip(_SPACE))),
                    "directives before the first command",
                    stops=False,
                )

    def _whole_script(self, end: int) -> None:
        """What is wrong with all of a script, whose first command stands at `end`; one without any is a part of one."""
        text = self.text.text
        begins_with_statement = text[:1] != without_directives(text)[:1]  # of a template, before or instead of the #!
        if not text.startswith("#!") and not begins_with_statement:
            length, behind = len(text.partition("\n")[0]), text.find("\n", end)
            self._problem(
                "first-line",
                "sbatch takes no script whose first line does not begin with #!",
                self.text.span(0, max(1, length)),
                "#!/bin/bash, or another shell, in the first line",
                stops=(end < len(text) or "#!" in text)
                and _PLACEHOLDER.search(text, 1, behind if behind >= 0 else len(text)) is None,
            )
        at = text.find("\r\n")
        if at >= 0:
            self._problem(
                "dos-line-end",
                "sbatch takes no script with DOS line ends",
                self.text.span(self.text.line_start(at), max(at, self.text.line_start(at) + 1)),
                "lines that end in a line feed alone; dos2unix makes them",
            )

    def _foreign(self) -> None:
        """Lines for other batch systems, which sbatch obeys after its own, wherever they stand."""
        forgotten: set[str] = set()
        for number, match in enumerate(_FOREIGN.finditer(self.text.text)):
            if number < _MOST_FOREIGN:
                self._problem(
                    "foreign-directive",
                    f'sbatch obeys "{match[0].strip(_SPACE)}", too, and after its own lines',
                    self.text.span(match.start(), match.start() + len(match[0].rstrip(_SPACE))),
                    "#SBATCH lines alone, or sbatch --ignore-pbs",
                    stops=False,
                )
            letters = _PBS if match[1] == "PBS" else _BSUB
            for letter in set(re.findall(r"(?<!\S)-([A-Za-z])", match[0])):
                forgotten.update(letters.get(letter, ()))
        self._forget(sorted(forgotten))

    def _forget(self, names: Iterable[str]) -> None:
        """Something else sets these, too: their values are not known."""
        for name in names:
            found = self.settings.get(name)
            known = unknown(_setting_name(name)) if found is None else found
            self.settings[name] = evolve(known, certainty=Certainty.UNKNOWN)

    # --- Words ------------------------------------------------------------------------------------------------

    def _words(self, at: int, end: int) -> None:
        """The words of one line, from behind #SBATCH on."""
        text = self.text.text
        masked = text[at:end]
        for pattern in (_TEMPLATE, _FORM):
            masked = pattern.sub(lambda match: match[0].translate(_MASKED), masked)
        here = 0
        while len(self.words) + len(self.components) <= MOST_WORDS:
            while here < len(masked) and masked[here] in _SPACE:
                here += 1
            if here == len(masked) or masked[here] == "#":
                return
            if masked[here] == ":":
                span = self.text.span(at + here, at + here + 1)
                self._problem("stray-word", 'sbatch takes no word that begins with ":"', span, "options of sbatch")
                return
            start = here
            value, here, quote = _argument(masked, here)
            value = value.translate(_UNMASKED)
            span = self.text.span(at + start, at + here)
            if quote:
                opening = self.text.span(at + masked.index(quote, start), at + here)
                self._problem("unmatched-quote", f"the quote {quote} is never closed", opening, f"another {quote}")
                return
            cut = masked[here : here + 1] == "#"
            if value in _COMPONENTS:
                self.components.append(len(self.words))
                self.breaks.append(span)
                continue
            if value:
                self.words.append(StaticWord(value, span))
            if value and not cut:
                continue
            rest = text[at + here : end].strip(_SPACE)
            if cut:
                self._problem(
                    "value-cut",
                    f'the # ends the line: "{rest}" is not read',
                    self.text.span(at + here, at + here + len(rest)),
                    "quotes around a value that holds a #, or a blank before a comment",
                    stops=False,
                )
            elif rest and not rest.startswith("#"):
                where = text.index(rest, at + here)
                self._problem(
                    "value-cut",
                    f'an empty word ends the line: "{rest}" is not read',
                    self.text.span(where, where + len(rest)),
                    "no empty word, and no backslash by itself",
                    stops=False,
                )
            return

    # --- Options ----------------------------------------------------------------------------------------------

    def _options(self) -> None:
        if len(self.words) + len(self.components) > MOST_WORDS:
            last = self.words.pop() if self.words and self.components[-1:] != [len(self.words)] else None
            self.problems.append(too_many_words(self.breaks.pop() if last is None else last.span))
            if last is None:
                self.components.pop()
            elif self.words and self.words[-1].start.startswith("-"):  # whose value may be the one that is not read
                self.words.pop()
        words, whole = self.words, dict[str, Setting]()
        for start, end in pairwise([0, *self.components, len(words)]):
            self.words, self.settings = words[start:end], {}
            self._options_of_a_part()
            self.parts.append(self.settings)
            whole |= self.settings
        self.settings = whole

    def _options_of_a_part(self) -> None:
        rest = self.words
        while rest:
            given, rest = read_options(rest, slurm_options("sbatch"))
            for option in given:
                self._option(option)
            if rest and not (given and _may_want(given[-1], rest[0])):
                self._stray(rest[0], self.words[-len(rest) - 1] if len(rest) < len(self.words) else None)
            if rest:
                rest = rest[1:]
        self._listed()
        self._of_a_type()

    def _memory(self) -> None:
        """What asks for memory twice, in parts of a job, too: later ones have what the first has (Slurm 22.05)."""
        for name, other in combinations(_MEMORY, 2):
            if name in self.settings and other in self.settings:
                self._problem(
                    MEMORY_TWICE if other == "mem-per-cpu" else "exclusive-options",
                    f"--{name} and --{other} exclude each other",
                    self.settings[other].name_span or self.settings[other].span,
                    f"one of {', '.join(f'--{memory}' for memory in _MEMORY)}",
                )

    def _listed(self) -> None:
        """What sbatch refuses of a list of nodes: more of them than there are to be."""
        listed, asked = self.settings.get("nodelist"), self.settings.get("nodes")
        if listed is None or asked is None or Certainty.UNKNOWN in (listed.certainty, asked.certainty):
            return
        most = re.fullmatch(r"(?:[0-9]+-)?([0-9]{1,9})", str(asked.value))
        names = node_names(str(listed.value))
        if most is not None and names is not None and len(names) > int(most[1]):
            self._problem(
                "exclusive-options",
                f"--nodelist names {len(names)} nodes, more than --nodes={asked.value}: sbatch refuses the job",
                listed.span,
                f"--nodes={len(names)}, or a shorter list",
            )

    def _of_a_type(self) -> None:
        """What Slurm refuses since 18.08: GPUs of a type beside GPUs of any, whichever options ask for them."""
        found: dict[str, dict[bool, str]] = {}
        for option in _RESOURCE_OPTIONS:
            setting = self.settings.get(option)
            if setting is None or setting.certainty is Certainty.UNKNOWN:
                continue
            for name, kind in asked_resources(option, str(setting.origin.value)):
                others = found.setdefault(name, {})
                others.setdefault(bool(kind), option)
                if len(others) == 2:
                    message = f"--{others[True]} asks for {name} of a type, --{others[False]} for {name} of any"
                    expected = "the type in each option, or one option"
                    self._problem("exclusive-options", f"{message}: Slurm refuses the job", setting.span, expected)
                    return

    def _stray(self, word: StaticWord, before: StaticWord | None) -> None:
        if self._is_template or _PLACEHOLDER.search(word.start) or (before is not None and _YOUR.search(before.start)):
            return
        if word.span.line in self._lines_for_somebody:
            return
        if before is not None and before.span in self._swallowed:  # it had this for its value, which is told already
            return
        if _MARK.fullmatch(word.start) or _FORM.fullmatch(word.start):
            return
        expected = "options of sbatch; a value with blanks stands in quotes"
        follows_equals = before is not None and before.start.endswith("=") and before.span.line == word.span.line
        if word.start == "=" or follows_equals:
            expected = "--option=value without blanks around the ="
        is_form = _OF_NO_VALUE.search(word.start) is not None or self._has_foreign_variable(word.start)
        stops = not is_form and (before is None or before.span not in self._for_somebody)
        message = f'"{word.start}" belongs to no option: sbatch refuses the job'
        self._problem("stray-word", message, word.span, expected, stops)

    @cached_property
    def _lines_for_somebody(self) -> set[int]:
        """The lines in which somebody is told what to write there: `#SBATCH -- insert your options here`."""
        return {word.span.line for word in self.words if word.start.lower() == "your"}

    def _option(self, given: GivenOption) -> None:
        if given.option is None:
            self._unknown_option(given)
        elif given.is_missing:
            expected = f"--{given.option.name}=value"
            stops = given.option.name not in _OF_A_PERSON
            self._problem("wants-value", f"{given.written} wants a value", given.word.span, expected, stops)
        elif given.is_unwanted and given.value is not None:
            self._problem("takes-no-value", f"{given.written} takes no value", given.value.span, given.written)
        elif given.value is None:
            name = given.option.name
            self._set(name, Origin(LAYER, name != "no-requeue", given.word.span), given)
        else:
            value, is_known = self._value(given, given.option.name, given.value)
            self._set(given.option.name, Origin(LAYER, value, given.value.span), given, is_known)

    def _set(self, option: str, origin: Origin, given: GivenOption, is_known: bool = True) -> None:
        name = _SAME.get(option, option)
        earlier = self.settings.get(name)
        history = () if earlier is None else earlier.history
        if earlier is not None and name == _ADDED_UP:
            before = str(earlier.origin.value)
            is_known = is_known and len(before) < _LONGEST_SUM
            origin = evolve(origin, value=f"{before},{origin.value}" if len(before) < _LONGEST_SUM else before)
        elif earlier is not None and not earlier.origin.value is origin.value is True:
            self._duplicate(name, earlier.origin, origin)
        certainty = Certainty.WRITTEN if is_known else Certainty.UNKNOWN
        self.settings[name] = Setting(_setting_name(name), (*history, origin), certainty, _name_span(given))

    def _duplicate(self, name: str, earlier: Origin, later: Origin) -> None:
        assert later.span is not None
        line = later.span.line
        message = f"{_shown(name, earlier.value)} has no effect: line {line} says {_shown(name, later.value)}"
        if earlier.value == later.value:
            message = f"{_shown(name, earlier.value)} is given again at line {line}"
        self._problem("duplicate-directive", message, earlier.span, f"one --{name}", stops=False)

    def _unknown_option(self, given: GivenOption) -> None:
        name = given.written.lstrip("-")
        if _PLACEHOLDER.search(given.written) or not name.strip("?") or "[" in name:  # --nice[=adjustment], of a manual
            return
        span, known = _name_span(given), slurm_options("sbatch").names
        near = most_like(name, known, 0.7)
        if given.candidates:
            those = ", ".join(f"--{candidate}" for candidate in given.candidates)
            self._problem("ambiguous-option", f"{given.written} is short for several options", span, f"one of {those}")
        elif name in _RENAMED:
            message = f"sbatch has no option {given.written} any more: it refuses the job"
            fix = _renamed(given, _RENAMED[name], is_safe=True)
            self._problem("removed-option", message, span, f"--{_RENAMED[name]}", fix=fix)
        elif _is_of_srun(given.written):
            message = f"{given.written} is an option of srun, not of sbatch, which refuses the job"
            self._problem("srun-only-option", message, span, f"{given.written} behind srun")
        else:
            message = f"sbatch has no option {given.written}: it refuses the job"
            shown = f"an option of sbatch; {suggestion(f'--{near}')}" if near else "an option of sbatch"
            meant = nearest(name, known)
            if given.written.startswith("--") and meant is None:
                message = f"sbatch has no option {given.written} of its own: without a plug-in it refuses the job"
                shown += f", or a site whose plugin_options name {name}"
                self._problem(PLUGIN_OPTION, message, span, shown, stops=False)
                value = given.word.start.partition("=")[2]
                if name in OF_PLUG_INS and value:
                    is_known = _PLACEHOLDER.search(value) is None
                    self._set(name, Origin(LAYER, value, given.word.span), given, is_known)
                return
            fix = _renamed(given, meant if given.written.startswith("--") else None)
            self._problem("unknown-option", message, span, shown, fix=fix)

    def _value(self, given: GivenOption, name: str, word: StaticWord) -> tuple[Any, bool]:
        """The value as Slurm takes it, and whether it is known."""
        text = word.start
        if _PLACEHOLDER.search(text) or _FORM.fullmatch(text):
            return text, False
        try:
            value, refusal = read_value(name, text), None
        except ValueError as error:
            value, refusal = text, str(error)
        if given.takes_next_word and _looks_like_option(text):
            message = f'{given.written} wants a value and takes "{text}" for it'
            is_of_a_person = name in _OF_A_PERSON
            stops = refusal is not None and not is_of_a_person
            self._problem("swallowed-option", message, word.span, f"--{name}=value", stops)
            if is_of_a_person:
                self._for_somebody.add(word.span)
            if refusal is not None:
                self._swallowed.add(word.span)
        elif text.startswith("=") and not given.written.startswith("--"):
            message = f'the value of {given.written} is "{text}"'
            expected = f"{given.written} {text[1:]} or --{name}{text}"
            there = _name_span(given).text == given.written and word.span.text.startswith("=") and len(text) > 1
            equals = evolve(word.span, end_line=word.span.line, end_column=word.span.column + 1)
            fix = Fix("write a blank for the equals sign", (Edit(equals, " "),)) if there else None
            self._problem("equals-sign", message, word.span, expected, stops=refusal is not None, fix=fix)
        elif refusal is not None and (self._is_filled_in(name, text) or _has_remark_for_rest(word.span)):
            return text, False
        elif refusal is not None:
            expected = refusal
            stops = not _has_word_for_number(name, text) and _OF_NO_VALUE.search(text) is None
            if _SHELL.search(text):
                expected, stops = f"{refusal}; Slurm expands no variables", not self._has_foreign_variable(text)
            self._problem("bad-value", f'sbatch refuses {given.written} "{text}"', word.span, expected, stops)
        elif not text and name in ("error", "output"):
            message = f'Slurm fails a job with {given.written} "" before its first command'
            self._problem("bad-value", message, given.word.span, f"{given.written}=file, or to leave it out")
        elif (lost := unheeded(name, text)) is not None and not _SHELL.search(text):
            message = f'of {given.written} "{text}" not all is heeded: {lost}'
            self._problem("bad-value", message, word.span, MAIL_TYPES, stops=False)
        elif isinstance(value, str) and name not in _RULES_LOOK and _SHELL.search(text):
            message = f'{given.written} "{text}" is not expanded by Slurm'
            self._problem("not-expanded", message, word.span, "the text itself", stops=False)
        return value, refusal is None

    def _has_foreign_variable(self, text: str) -> bool:
        """Whether a value has a variable that the script never sets: what makes the script may put it in."""
        return any(not name.startswith("SLURM_") and name not in self._set_names for name in _VARIABLE.findall(text))

    @cached_property
    def _set_names(self) -> set[str]:
        """The variables that the script sets, wherever that is."""
        lines = (line for line in self.text.text.split("\n") if "=" in line or "for" in line or "read" in line)
        return {name for line in lines if not line.startswith("#") for name in _SETS.findall(line)}

    def _is_filled_in(self, name: str, text: str) -> bool:
        """Whether a value that sbatch refuses stands for one that comes before sbatch sees the script."""
        if name == "time" and without_limit(text) is not None:
            return False
        if name.startswith("time") and text.isalpha() and "time" in text:  # mywalltime
            return True
        if self._is_template:
            return stands_for_number(text) or _SHELL.search(text) is not None
        if name in _SEVERAL_NUMBERS:
            return stands_for_numbers(text)
        return name in _NUMBERS and stands_for_number(text)


def _has_word_for_number(name: str, text: str) -> bool:
    """Whether a word stands where a number has to be, and not one of sbatch's own."""
    if name in ("time", "time-min", "array"):
        return without_limit(text) is None and has_word_for_number(text)
    return name in _NUMBERS and has_word_for_number(text)


def _has_remark_for_rest(span: Span) -> bool:
    """Whether a remark stands right behind a value, for what somebody writes there: `--array=1-#number of runs`."""
    line = span.source.line(span.line)
    return span.end_line == span.line and line[span.end_column - 1 : span.end_column] == "#"


def _is_left_out(problem: SyntaxProblem) -> bool:
    """Whether a value is missing: `--time=`."""
    return problem.kind in ("wants-value", "swallowed-option") or (
        problem.kind == "bad-value" and problem.span.text.endswith("=")
    )


def _may_want(given: GivenOption, word: StaticWord) -> bool:
    """Whether a word may be the value of the option before it, which sbatch itself does not have."""
    return given.option is None and "=" not in given.word.start and given.word.span.line == word.span.line


def _argument(text: str, at: int) -> tuple[str, int, str]:
    """One word of a line: its text, where it ends, and the quote that is not closed.

    A backslash is dropped and keeps the next quote, # or backslash as it is, within quotes of either kind, too; a blank
    ends a word even behind a backslash.
    """
    found: list[str] = []
    quote, escaped = "", False
    while at < len(text):
        character = text[at]
        if escaped and (quote or character not in _SPACE):
            found.append(character)
            escaped = False
        elif character == "\\":
            escaped = True
        elif quote and character == quote:
            quote = ""
        elif not quote and character in "\"'":
            quote = character
        elif not quote and (character in _SPACE or character == "#"):
            break
        else:
            found.append(character)
        at += 1
    return "".join(found), at, quote


def _looks_like_option(text: str) -> bool:
    table = slurm_options("sbatch")
    if text.startswith("--"):
        return len(text) > 2 and len(table.named(text[2:].partition("=")[0])) == 1
    return bool(re.match(r"-[A-Za-z]", text)) and table.letter(text[1]) is not None


def _is_of_srun(written: str) -> bool:
    table = slurm_options("srun")
    return written[2:] in table.names if written.startswith("--") else table.letter(written[1:]) is not None


def _setting_name(option: str) -> str:
    """The name that a spec has for an option."""
    return f"job.{option.replace('-', '_')}"


def _name_span(given: GivenOption) -> Span:
    """Where the option stands, without its value."""
    span = given.word.span
    return span.source.span(span.line, span.column, min(len(given.written), span.end_column - span.column))


def _is_alike(one: Setting | None, other: Setting | None) -> bool:
    """Whether two parts of a job name the same, or neither names anything."""
    return (one is None or one.origin.value) == (other is None or other.origin.value)


def _written(text: str, span: Span, *, is_safe: bool = False) -> Fix:
    return Fix(f"write {text}", (Edit(span, text),), is_safe)


def _renamed(given: GivenOption, name: str | None, *, is_safe: bool = False) -> Fix | None:
    """The fix that gives an option another name, if it stands there as it is."""
    span = _name_span(given)
    return _written(f"--{name}", span, is_safe=is_safe) if name is not None and span.text == given.written else None


def _shown(option: str, value: Any) -> str:
    """An option as one would write it."""
    if isinstance(value, bool):
        return f"--{option}" if value else f"--no-{option}"
    return f"--{option}={value}"
