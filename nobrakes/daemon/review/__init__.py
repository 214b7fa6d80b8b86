"""The Reviewer at work: performs what core.review decides, and reports what was seen."""
