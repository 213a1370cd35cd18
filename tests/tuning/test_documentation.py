"""The example of the documentation runs."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_example(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    (code,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "tuning.md").read_text(), re.M | re.S)
    exec(code, {})
    assert capsys.readouterr().out.startswith("nh_dcmip_tc_52_r2b5-io4-p4 ")
