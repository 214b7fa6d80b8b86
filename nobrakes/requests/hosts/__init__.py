"""Code hosts: GitHub, GitLab, and any remote that git can push to."""
