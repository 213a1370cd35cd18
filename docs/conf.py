"""The site: `sphinx-build -W docs build/site`, with nmlgen[docs] installed.

The pages are those that a forge shows, too. What only a site can show is made by the modules in `docs/site`; the
playground's files are made by `docs/playground/make.py` and laid beside the pages by `-D html_extra_path=...`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from pygments.lexers.fortran import FortranLexer
from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent / "site"))
sys.path.insert(0, str(Path(__file__).parent.parent))

from nmlgen import __version__

project = "nmlgen"
author = "The nmlgen developers"
version = release = __version__
extensions = ["myst_parser", "icon_namelists", "gallery"]
exclude_patterns = ["_build", "playground/node_modules/**"]
nitpicky = True

html_theme = "furo"
html_title = "nmlgen"
html_favicon = "site/static/icon.svg"
html_static_path = ["site/static"]
html_css_files = ["site.css"]
html_js_files = [("filter.js", {"defer": "defer"})]
html_copy_source = False
html_show_copyright = False
html_permalinks_icon = "#"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5c8a", "color-brand-content": "#0b5c8a"},
    "dark_css_variables": {"color-brand-primary": "#6cb8e6", "color-brand-content": "#6cb8e6"},
}

myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline"]

_OUTSIDE = {
    "CHANGELOG.md": "/project/changelog.md",
    "CONTRIBUTING.md": "/project/contributing.md",
    "SECURITY.md": "/project/security.md",
    "editors/vscode/README.md": "/project/vscode.md",
}
"""Documents outside `docs/`, and the pages that include them."""
_LINK_OUT = re.compile(r"\]\((?:\.\./)+(?=[A-Za-z])([^)#\s]+)")

_CONTENTS: dict[tuple[tuple[str, Any], ...], str] = {}
"""What stands beside the pages of rules, by how it was asked for."""


def _lead_inside(_app: Sphinx, _docname: str, text: list[str]) -> None:
    """Let links out of `docs/` lead to the pages that show those documents."""
    text[0] = _LINK_OUT.sub(lambda link: f"]({_OUTSIDE[link[1]]}" if link[1] in _OUTSIDE else link[0], text[0])


def _arrange(app: Sphinx, _doctree: Any) -> None:
    """Rules are reached by their list and by the search: three hundred of them would bury the rest of the sidebar."""
    docname = app.env.docname
    if docname.startswith("rules/") and docname != "rules/index":
        app.env.metadata[docname]["orphan"] = True
    if docname == "playground":
        app.env.metadata[docname]["hide-toc"] = True


def _share_contents(_app: Sphinx, page: str, _template: str, context: dict[str, Any], _doctree: Any) -> None:
    """Pages of rules lie in one directory, and none is in the contents beside them: these are worked out once, which
    costs more than all else of a page."""
    if page.startswith("rules/") and page != "rules/index":
        work_out = context["toctree"]

        def toctree(**options: Any) -> str:
            key = tuple(sorted(options.items()))
            if key not in _CONTENTS:
                _CONTENTS[key] = work_out(**options)
            return _CONTENTS[key]

        context["toctree"] = toctree


def setup(app: Sphinx) -> None:
    """Sphinx calls this."""
    _CONTENTS.clear()
    app.add_lexer("namelist", FortranLexer)
    app.connect("source-read", _lead_inside)
    app.connect("doctree-read", _arrange)
    app.connect("html-page-context", _share_contents, priority=400)  # before the theme asks
