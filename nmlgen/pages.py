"""The pages of problems: what each is, with an example where it is found and one that is clean of it."""

from __future__ import annotations


def page(text: str, bad: str, good: str, language: str) -> str:
    """What a problem is, with two examples in that language; tests judge both."""
    return f"{text}\n\nFound:\n\n```{language}\n{bad.strip()}\n```\n\nClean:\n\n```{language}\n{good.strip()}\n```"
