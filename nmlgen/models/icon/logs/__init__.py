"""ICON's logs with their timer reports, and finish.status, read into tables."""
