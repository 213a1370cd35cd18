"""What a script has that another batch system does not take as it is: the codes, their names and what they mean."""

from __future__ import annotations

PROBLEMS = {
    "CNV001": (
        "no-counterpart",
        "What a directive asks for, another batch system cannot be asked for, or its value is none that could be said "
        "there. `nmlgen convert` keeps the words as a comment in the script, `# not converted: --qos=high`.",
    ),
    "CNV002": (
        "other-meaning",
        "`nmlgen convert` wrote a directive that does not mean quite the same to another batch system: what an output "
        "file is called, which jobs are waited for, when mail is sent, or whether parts of a job share a node.",
    ),
    "CNV003": (
        "left-in-body",
        "Behind its directives a script uses a variable or a program of the batch system that it was written for. "
        "`nmlgen convert` changes no command; it names what the other batch system has in their place.",
    ),
}
