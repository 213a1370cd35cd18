"""What lies in a directory that is removed."""

from __future__ import annotations

from nmlgen.lift import removals


def test_a_deep_path_is_not_taken_apart():
    class Deep(str):
        cuts = 0

        def __getitem__(self, place):
            Deep.cuts += 1
            return str(self)[place]

    path = Deep("/".join("a" * 1_000))
    assert removals._lies_in(path, {"a/a/a"}, [5])
    assert not removals._lies_in(path, {"b/a/a", "a/a/"}, [4, 5])
    assert Deep.cuts <= 6
