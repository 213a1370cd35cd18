"""The rules that need to know what ICON does: one module a topic, one class a rule."""
