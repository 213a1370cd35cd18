"""What a spec says of a chain of jobs: what each hands on, and what is done after it."""

from __future__ import annotations

KEEP_LAST, KEEP_EVERY = "restart.keep_last", "restart.keep_every"
START_DIRECTORY, START_TIME, START_MODELS = "start_from.directory", "start_from.time", "start_from.models."
VERIFY, FIND_NAN, JOIN, NMLGEN = "after.verify", "after.find_nan", "after.join", "after.nmlgen"
SUBMIT = "after.submit"
KEYS = (KEEP_LAST, KEEP_EVERY, START_DIRECTORY, START_TIME, VERIFY, FIND_NAN, JOIN, NMLGEN, SUBMIT)
"""The keys of a spec about what the jobs of a chain hand on, and what is done after each of them; besides there is
`start_from.models.NAME` for each model that is called otherwise in the experiment that it starts from."""

NUMBERS, SWITCHES = (KEEP_LAST, KEEP_EVERY), (VERIFY, FIND_NAN, JOIN)
"""Those of them that are numbers, and those that are true or false; the others are texts."""
