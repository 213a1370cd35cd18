"""Findings and tables for people and for programs; knows nothing of where they came from."""
