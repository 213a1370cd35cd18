"""What a spec says stays text: in the shell, and in #SBATCH lines."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import rows
from tools import require

from nmlgen import resources
from nmlgen.errors import WriteError
from nmlgen.render import templates
from nmlgen.render.shell import (
    Quoted,
    comment,
    directive,
    in_double_quotes,
    joined,
    one_line,
    plain,
    shell_path,
    shell_word,
)

any_text = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30)
nasty = st.lists(
    st.sampled_from(["'", '"', "\\", "$(touch x)", "`touch x`", "$HOME", "\n", " ", "*", "~", "!", "#", ";", "&", "a"]),
    max_size=8,
).map("".join)


def bash(script: str) -> bytes:
    run = subprocess.run(["bash", "-c", script], capture_output=True, check=True, env={"PATH": "/usr/bin:/bin"})
    assert run.stderr == b""
    return run.stdout


@pytest.fixture(scope="module", autouse=True)
def _bash():
    require("bash")


@settings(max_examples=20)
@given(st.lists(any_text | nasty, min_size=1, max_size=30))
def test_words_come_back(texts):
    out = bash("printf '%s\\0' " + " ".join(map(shell_word, texts)))
    assert out == b"".join(text.encode() + b"\0" for text in texts)


@settings(max_examples=20)
@given(st.lists(any_text | nasty, min_size=1, max_size=20))
def test_assignments_come_back(texts):
    script = "".join(f"export A={shell_word(text)}\nprintf '%s\\0' \"$A\"\n" for text in texts)
    assert bash(script) == b"".join(text.encode() + b"\0" for text in texts)


@settings(max_examples=20)
@given(st.lists(any_text | nasty, min_size=1, max_size=20))
def test_paths_come_back(texts):
    out = bash("here='/a b'; printf '%s\\0' " + " ".join(shell_path(text, "here") for text in texts))
    expected = [text if text.startswith("/") else f"/a b/{text}" for text in texts]
    assert out == b"".join(text.encode() + b"\0" for text in expected)


@rows(
    ("value", "word"),
    [
        ("", "''"),
        ("a", "a"),
        (5, "5"),
        ("-x", "-x"),
        ("a b", "'a b'"),
        ("~", "'~'"),
        ("it's", "'it'\\''s'"),
        ("$HOME", "'$HOME'"),
        ("ä", "'ä'"),
        ("a\n", "'a\n'"),
        ("*", "'*'"),
        ("{a,b}", "'{a,b}'"),
        ("a=b", "a=b"),
    ],
)
def test_words(value, word):
    assert shell_word(value) == word


@rows(
    ("option", "value", "text"),
    [
        ("nodes", 2, "--nodes=2"),
        ("time", "00:40:00", "--time=00:40:00"),
        ("account", "bb1234", "--account=bb1234"),
        ("constraint", "LSDF&BEEOND|x*2", "--constraint=LSDF&BEEOND|x*2"),
        ("constraint", "[a|b]", "--constraint=[a|b]"),
        ("output", "%x.%j.log", "--output=%x.%j.log"),
        ("exclusive", True, "--exclusive"),
        ("exclusive", False, None),
        ("requeue", True, "--requeue"),
        ("requeue", False, "--no-requeue"),
        ("comment", "a b", "--comment='a b'"),
        ("comment", "a # b", "--comment='a # b'"),
        ("comment", 'say "hi"', "--comment='say \"hi\"'"),
        ("comment", "it's", '--comment="it\'s"'),
        ("comment", 'it\'s "a"', '--comment="it\'s \\"a\\""'),
        ("comment", "a\\b", '--comment="a\\\\b"'),
        ("comment", "", "--comment=''"),
        ("signal", "B:USR1@120", "--signal=B:USR1@120"),
    ],
)
def test_directives(option, value, text):
    assert directive(option, value) == text


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=30))
def test_directives_hold_one_word(text):
    """Read back by sbatch's rules: quotes group, a backslash inside double quotes escapes, # ends the line."""
    assert words_of_sbatch(directive("comment", text)) == [f"--comment={text}"]


def words_of_sbatch(line: str) -> list[str]:
    words, word, quote, position = [], "", "", 0
    while position < len(line):
        char = line[position]
        if char == "\\":
            if quote == '"' and position + 1 < len(line) and line[position + 1] in '"\\':
                word += line[position + 1]
                position += 1
        elif quote:
            quote, word = ("", word) if char == quote else (quote, word + char)
        elif char in "'\"":
            quote = char
        elif char == "#":
            break
        elif char.isspace():
            words, word = [*words, word], ""
        else:
            word += char
        position += 1
    assert not quote
    return [*words, word]


# --- Every place has its quoting, and a template prints nothing else -------------------------------------


@pytest.mark.parametrize("text", ["a\nb", "a\rb", "a\0b", "\x1b[31m", "\x7f"])
def test_no_line_is_left(text):
    for quote in (in_double_quotes, one_line, plain, lambda value: directive("comment", value)):
        with pytest.raises(WriteError):
            quote(text)
    assert comment(text).isprintable()


def test_no_word_holds_a_nul():
    with pytest.raises(WriteError):
        shell_word("a\0b")


@settings(max_examples=20)
@given(st.lists(st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=30) | nasty, min_size=1, max_size=20))
def test_texts_within_double_quotes_come_back(texts):
    texts = [text for text in texts if "\n" not in text]
    out = bash("".join(f"printf '%s\\0' \"<{in_double_quotes(text)}>\"\n" for text in texts))
    assert out == b"".join(b"<" + text.encode() + b">\0" for text in texts)


@pytest.mark.parametrize("text", ["", "a b", "a'", "$x", "-x", "ä", "a/b", ";"])
def test_what_is_not_plain(text):
    with pytest.raises(WriteError):
        plain(text)


def test_only_what_is_quoted_is_joined():
    assert joined([Quoted("a"), shell_word("b c")], " | ") == "a | 'b c'"
    with pytest.raises(TypeError):
        joined([Quoted("a"), "b"])


@pytest.mark.parametrize("value", ["x", "", "a b", None, True, 1.5, ["x"]])
def test_a_template_prints_nothing_unquoted(value, tmp_path, monkeypatch):
    (tmp_path / "odd.j2").write_text("{{ value }}\n")
    (tmp_path / "even.j2").write_text("{{ value | word }} {{ 5 }}{# a comment of shell's #}\n")
    monkeypatch.setattr(resources, "directory", lambda name: tmp_path)
    with pytest.raises(TypeError, match="no filter has quoted"):
        templates.template.__wrapped__("odd.j2").render(value=value)
    assert templates.template.__wrapped__("even.j2").render(value=value).startswith(shell_word(value) + " 5")
