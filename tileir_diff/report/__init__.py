"""The report: one result value, and its text, JSON and Markdown."""
