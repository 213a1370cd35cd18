"""The language server: what nmlgen knows, told to editors as one types."""
