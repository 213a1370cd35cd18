"""`echo`, `print` and `printf`, which are the shell's own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import ROUND_HALF_EVEN, Context, Decimal

from nmlgen.script.programs.command import Command, Result, UndecidedCommand, refuse_length

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\\": "\\"}
_MOST_ROUNDS = 10_000
_WIDEST = 1_000


def echo(command: Command) -> Result:
    """`echo`: where shells differ in backslashes and options, only that of the one that is known."""
    arguments = list(command.arguments)
    letters = ""
    while arguments and re.fullmatch(r"-[neE]+", arguments[0]):
        letters += arguments.pop(0)[1:]
    if "E" in letters and command.is_ksh is not False:
        raise UndecidedCommand("echo -E, which ksh prints")
    text = " ".join(arguments)
    end = "" if "n" in letters else "\n"
    if "\\" not in text:
        return text + end, 0
    if letters.strip("n").endswith("e"):
        text, goes_on = _unescaped_words(arguments, command.is_ksh)
        return text + (end if goes_on else ""), 0
    if command.is_ksh is not False:
        raise UndecidedCommand("echo of backslashes")
    return text + end, 0


def print_(command: Command) -> Result:
    """ksh's `print` with `-n`, `-r` and `-e`."""
    if command.is_ksh is False:
        raise UndecidedCommand("print, which bash does not have")
    arguments = list(command.arguments)
    letters = ""
    while arguments and re.fullmatch(r"-[nre]*", arguments[0]):
        letters += arguments[0][1:]
        if arguments.pop(0) == "-":
            break
    else:
        if arguments and arguments[0] == "--":
            arguments.pop(0)
        elif arguments and arguments[0].startswith("-"):
            raise UndecidedCommand(f"the option {arguments[0]}")
    if "r" in letters and "e" in letters:
        raise UndecidedCommand("print -r -e")
    text = " ".join(arguments)
    goes_on = True
    if "r" not in letters:
        text, goes_on = _unescaped_words(arguments, command.is_ksh)
    return text + ("\n" if goes_on and "n" not in letters else ""), 0


def _unescaped_words(words: list[str], is_ksh: bool | None) -> tuple[str, bool]:
    """As `_unescaped`, of words with a space between them."""
    if is_ksh is not False and any("\\c" in word for word in words[:-1]):
        raise UndecidedCommand("words behind \\c, of which ksh prints the space")
    return _unescaped(" ".join(words))


def _unescaped(text: str) -> tuple[str, bool]:
    """The escapes of `echo -e` and `%b` done, and whether there was no `\\c`, which ends all output."""
    result = []
    offset = 0
    pattern = re.compile(r"\\(?:0([0-7]{1,3})|(.)|\Z)", re.DOTALL)
    while match := pattern.search(text, offset):
        result.append(text[offset : match.start()])
        offset = match.end()
        if match[1]:
            result.append(_octal(match[1]))
        elif match[2] == "c":
            return "".join(result), False
        elif match[2] in _ESCAPES:
            result.append(_ESCAPES[match[2]])
        else:
            raise UndecidedCommand(f"the escape {match[0]}")
    return "".join(result) + text[offset:], True


def _octal(digits: str) -> str:
    code = int(digits, 8)
    if not 0 < code < 128:
        raise UndecidedCommand("a byte that is no character")
    return chr(code)


# --- printf ---------------------------------------------------------------------------------------------------------

_DIRECTIVE = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\*|[0-9]*)(?P<dot>\.(?P<precision>\*|[0-9]*))?(?P<kind>[sdifeEgGxXouc%b])"
    r"|\\(?:(?P<octal>[0-7]{1,3})|(?P<escape>[ntrabfv\\]))|(?P<text>[^%\\]+)"
)


def printf(command: Command) -> Result:
    """`printf` of what bash, ksh and dash print alike, or of the shell that is known."""
    arguments = list(command.arguments)
    if arguments[:1] == ["--"]:
        arguments.pop(0)
    elif arguments and arguments[0].startswith("-"):
        raise UndecidedCommand("an option of printf")
    if not arguments:
        raise UndecidedCommand("printf without a format")
    return formatted(arguments[0], arguments[1:], leading_zero=command.is_ksh), 0


def formatted(format_text: str, values: list[str], *, leading_zero: bool | None = None) -> str:
    """The values in a format, which is used again until none is left.

    `leading_zero`: what 010 is: True ten, False eight, None not known.
    """
    remaining = iter(values)
    count = len(values)
    result: list[str] = []
    printed = 0
    for _ in range(_MOST_ROUNDS):
        taken: list[str] = []
        before = len(result)
        goes_on = _one_round(format_text, remaining, taken, result, leading_zero)
        printed += sum(map(len, result[before:]))
        refuse_length(printed)
        count -= len(taken)
        if not goes_on or count <= 0 or not taken:
            return "".join(result)
    raise UndecidedCommand("a printf of too many arguments")


def _one_round(
    format_text: str, values: Iterator[str], taken: list[str], result: list[str], leading_zero: bool | None
) -> bool:
    """Print the format once; whether the output goes on behind it."""

    def take() -> str | None:
        value = next(values, None)
        if value is not None:
            taken.append(value)
        return value

    offset = 0
    while offset < len(format_text):
        match = _DIRECTIVE.match(format_text, offset)
        if match is None:
            raise UndecidedCommand("a format that shells take differently")
        offset = match.end()
        if match["text"]:
            result.append(match["text"])
        elif match["octal"]:
            result.append(_octal(match["octal"]))
        elif match["escape"]:
            result.append(_ESCAPES[match["escape"]])
        elif match["kind"] == "%":
            if match[0] != "%%":
                raise UndecidedCommand("a width of %")
            result.append("%")
        else:
            flags = match["flags"]
            width = _size(take() if match["width"] == "*" else match["width"])
            precision = None
            if match["dot"]:
                precision = _size(take() if match["precision"] == "*" else match["precision"])
            kind = match["kind"]
            value = take()
            if kind == "i" and value is None and leading_zero is not False:
                raise UndecidedCommand("%i of nothing, which ksh refuses")
            if kind == "b":
                value, goes_on = _unescaped(value or "")
                if not goes_on:
                    raise UndecidedCommand("\\c in a printf")
                kind = "s"
            result.append(directive(flags, width, precision, kind, value, leading_zero=leading_zero))
    return True


def _size(text: str | None) -> int:
    if text is None or not re.fullmatch(r"|0|[1-9][0-9]{0,3}", text) or int(text or "0") > _WIDEST:
        raise UndecidedCommand("a width that is unusual")
    return int(text or "0")


def directive(
    flags: str, width: int, precision: int | None, kind: str, value: str | None, *, leading_zero: bool | None = None
) -> str:
    """One value as C's printf writes it. Raises UndecidedCommand where the last digit may be another."""
    if kind in "sc":
        return _text_directive(flags, width, precision, kind, value or "")
    if kind in "diuxXo":
        return _integer_directive(flags, width, precision, kind, _integer(value or "0", leading_zero))
    return _float_directive(flags, width, precision, kind, value or "0")


def _text_directive(flags: str, width: int, precision: int | None, kind: str, text: str) -> str:
    if flags.strip("-") or (kind == "c" and (not text or precision is not None)):
        raise UndecidedCommand("flags of a text")
    if not text.isascii() and (width or precision is not None or kind == "c"):
        raise UndecidedCommand("characters that are several bytes to some locales")
    text = text[:1] if kind == "c" else text if precision is None else text[:precision]
    return text.ljust(width) if "-" in flags else text.rjust(width)


def _integer(text: str, leading_zero: bool | None) -> int:
    match = re.fullmatch(r"([-+]?)(?:0[xX]([0-9a-fA-F]{1,15})|([0-9]{1,18}))|[\"']([!-~])", text)
    if match is None:
        raise UndecidedCommand(f"{text} for an integer")
    if match[4]:
        return ord(match[4])
    if match[2]:
        value = int(match[2], 16)
    elif match[3].startswith("0") and match[3].strip("0") and not leading_zero:
        if leading_zero is None or not set(match[3]) <= set("01234567"):
            raise UndecidedCommand("a number with a leading zero")
        value = int(match[3], 8)
    else:
        value = int(match[3])
    return -value if match[1] == "-" else value


def _integer_directive(flags: str, width: int, precision: int | None, kind: str, value: int) -> str:
    if kind in "uxXo":
        if flags.strip("-0#") or value < 0 or ("#" in flags and (kind in "ou" or value == 0)):
            raise UndecidedCommand("flags that are unusual")
        digits = {"u": str(value), "x": f"{value:x}", "X": f"{value:X}", "o": f"{value:o}"}[kind]
        sign = f"0{kind}" if "#" in flags else ""
    else:
        if "#" in flags:
            raise UndecidedCommand("flags that are unusual")
        digits = str(abs(value))
        sign = _sign(flags, value < 0)
    if precision is not None:
        if "0" in flags or (precision == 0 and value == 0):
            raise UndecidedCommand("flags that are unusual")
        digits = digits.zfill(precision)
    return _padded(flags, width, sign, digits)


def _sign(flags: str, is_negative: bool) -> str:
    return "-" if is_negative else "+" if "+" in flags else " " if " " in flags else ""


def _padded(flags: str, width: int, sign: str, digits: str) -> str:
    if "-" in flags:
        return (sign + digits).ljust(width)
    if "0" in flags:
        return sign + digits.zfill(width - len(sign))
    return (sign + digits).rjust(width)


_FLOAT = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,2})?")


def _float_directive(flags: str, width: int, precision: int | None, kind: str, text: str) -> str:
    """A decimal of at most 15 digits, rounded: any binary float behind it has the same digits but for ties."""
    if "#" in flags or not _FLOAT.fullmatch(text):
        raise UndecidedCommand(f"{text} for a float")
    value = Decimal(text)
    digits = 6 if precision is None else precision
    if len(value.as_tuple().digits) > 15 or digits > 30:
        raise UndecidedCommand("a float of too many digits")
    if kind == "f":
        rounded = _certainly_rounded(value, -digits)
        body = f"{abs(rounded):.{digits}f}"
    elif kind in "eE":
        rounded = _certainly_rounded(value, value.adjusted() - digits)
        body = _scientific(abs(rounded), digits)
    else:
        body = _general(abs(value), digits or 1)
    if value.is_signed() and not re.search("[1-9]", body.partition("e")[0]):
        raise UndecidedCommand("a zero that may be written -0")
    return _padded(flags, width, _sign(flags, value.is_signed()), body if kind.islower() else body.upper())


def _certainly_rounded(value: Decimal, exponent: int) -> Decimal:
    """The value to 10**exponent. Undecided at a tie, and where more digits are asked for than floats have."""
    if value and value.adjusted() - exponent > 15:
        raise UndecidedCommand("more digits than a float has")
    context = Context(prec=60, rounding=ROUND_HALF_EVEN)
    quantum = Decimal((0, (1,), exponent))
    rounded = value.quantize(quantum, context=context)
    if abs(value - rounded) * 2 == quantum:
        raise UndecidedCommand("a tie between two roundings")
    return rounded


def _scientific(value: Decimal, digits: int) -> str:
    exponent = value.adjusted() if value else 0
    mantissa = value.scaleb(-exponent)
    return f"{mantissa:.{digits}f}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _general(value: Decimal, digits: int) -> str:
    if not value:
        return "0"
    rounded = _certainly_rounded(value, value.adjusted() - digits + 1)
    exponent = rounded.adjusted()
    if -4 <= exponent < digits:
        text = f"{rounded:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    mantissa = f"{rounded.scaleb(-exponent):f}"
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


PROGRAMS = {"echo": echo, "print": print_, "printf": printf}
