"""What makes artifacts: agents, recorded answers, or a mechanical worker."""
