"""The language server, asked as an editor asks it."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

pytestmark = pytest.mark.asyncio(loop_scope="module")

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMELIST = "&parallel_nml\n nproma = 16\n num_io_proc = 2\n/\n"


def at(text: str, word: str, character: int = 0) -> types.Position:
    """The place of a word in an ASCII text."""
    offset = text.index(word)
    line = text.count("\n", 0, offset)
    return types.Position(line, offset - (text.rfind("\n", 0, offset) + 1) + character)


async def test_a_wrong_name_is_told_while_typing_and_mended(editor, tmp_path):
    uri = await editor.open(tmp_path / "NAMELIST_atm", "")
    assert editor.codes(uri) == []
    await editor.type(uri, NAMELIST)
    found = editor.found(uri, "NML002")
    assert found.range == types.Range(types.Position(2, 1), types.Position(2, 12))
    assert found.severity is types.DiagnosticSeverity.Error
    assert found.source == "nmlgen"
    assert "num_io_procs" in found.message
    await editor.type(uri, NAMELIST.replace("num_io_proc ", "num_io_procs "))
    assert "NML002" not in editor.codes(uri)


async def test_the_fix_is_one_key_away(editor, tmp_path):
    (tmp_path / "nmlgen.toml").write_text('icon-release = "2024.10"\n')
    uri = await editor.open(tmp_path / "NAMELIST_atm", NAMELIST)
    document = types.TextDocumentIdentifier(uri)
    where = types.Range(types.Position(2, 3), types.Position(2, 3))
    context = types.CodeActionContext(diagnostics=[])
    actions = await editor.client.text_document_code_action_async(types.CodeActionParams(document, where, context))
    assert [action.kind for action in actions] == ["quickfix"]
    edit = actions[0].edit.changes[uri][0]
    assert (edit.range.start.line, edit.range.start.character, edit.new_text) == (2, 1, "num_io_procs")
    text = NAMELIST.replace("16", "16.").replace("num_io_proc ", "num_io_procs ")
    await editor.type(uri, text)
    only = types.CodeActionContext(diagnostics=[], only=["source.fixAll"])
    everything = types.Range(types.Position(0, 0), types.Position(0, 0))
    actions = await editor.client.text_document_code_action_async(types.CodeActionParams(document, everything, only))
    assert [action.kind for action in actions] == ["source.fixAll.nmlgen"]
    edit = actions[0].edit.changes[uri][0]
    assert (edit.range, edit.new_text) == (types.Range(at(text, "16."), at(text, "16.", 3)), "16")


async def test_hover_tells_type_default_and_who_set_it(editor, tmp_path):
    uri = await editor.open(tmp_path / "NAMELIST_atm", NAMELIST)
    params = types.HoverParams(types.TextDocumentIdentifier(uri), at(NAMELIST, "nproma"))
    hover = await editor.client.text_document_hover_async(params)
    assert "integer" in hover.contents.value
    assert "in force: `16`, set in line 2" in hover.contents.value
    params = types.HoverParams(types.TextDocumentIdentifier(uri), at(NAMELIST, "num_io_proc"))
    assert "### NML002" in (await editor.client.text_document_hover_async(params)).contents.value


async def test_a_spec_is_judged_hovered_and_completed(editor):
    uri = await editor.open(EXAMPLES / "nh_dcmip_tc_52_r2b5.yaml")
    text = (EXAMPLES / "nh_dcmip_tc_52_r2b5.yaml").read_text()
    assert editor.codes(uri) == []
    document = types.TextDocumentIdentifier(uri)
    hover = await editor.client.text_document_hover_async(types.HoverParams(document, at(text, "output_interval")))
    assert "in force: `PT12M`, spec, in line" in hover.contents.value
    assert "replaced: `PT12M`, preset icon/nh_dcmip_tc_52" in hover.contents.value
    definition = await editor.client.text_document_definition_async(
        types.DefinitionParams(document, at(text, "levante", 1))
    )
    assert definition[0].uri.endswith("presets/sites/levante.yaml")
    items = await editor.client.text_document_completion_async(types.CompletionParams(document, at(text, "levante", 3)))
    assert [item.label for item in items.items] == ["levante"]
    await editor.type(uri, text.replace("stream_partitions_ml: 8", "stream_partitions_ml: 9"))
    assert editor.codes(uri) != []


async def test_unsaved_texts_count(editor, tmp_path):
    (tmp_path / "base.yaml").write_text("job: {nodes: 2}\n")
    example = (EXAMPLES / "nh_dcmip_tc_52_r2b5.yaml").read_text()
    text = example.replace("extends: icon/nh_dcmip_tc_52 ", "extends: [icon/nh_dcmip_tc_52, ./base.yaml] ")
    spec = await editor.open(tmp_path / "spec.yaml", text)
    assert editor.codes(spec) == []
    base = await editor.open(tmp_path / "base.yaml")
    await editor.type(base, "about: {group: mine}\nparallel: {npromaa: 8}\n")
    await editor.until(lambda: "NML002" in editor.codes(spec))
    found = editor.found(spec, "NML002")
    assert found.message.startswith("base.yaml:2:")
    assert found.range == types.Range(at(text, "base.yaml"), at(text, "base.yaml", 9))
    assert found.related_information[0].location.uri == base
    editor.close(base)
    await editor.judged(base, None)
    assert editor.codes(base) == []


async def test_what_is_typed_faster_than_it_is_judged(editor, tmp_path):
    uri = await editor.open(tmp_path / "NAMELIST_atm", "")
    for length in range(len(NAMELIST)):
        editor.change(uri, NAMELIST[:length])
    await editor.type(uri, NAMELIST)
    assert "NML002" in editor.codes(uri)
