"""One gate a stage: code that looks at artifacts, and decides."""
