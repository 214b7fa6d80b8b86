"""The plan that `nobrakes plan example` prints: every idea of the format once, in a plan that can be applied."""

PLAN = """\
# A plan: what the graph of beads should be. Apply it as often as you like:
#   nobrakes plan apply plan.yaml --dry-run     says what would change
#   nobrakes plan apply plan.yaml               files new beads as drafts, proposes changes of live ones
#   nobrakes commit-strategy                    brings both into force
beads:
  # First what everything else stands on: the project's structure, its test framework, its checks.
  - id: scaffold
    type: chore
    title: Lay out the package and its tests
    description: A package with a version, and a test suite that the check `test` of .nobrakes/config.toml runs.
    acceptance:
      - the package can be imported
      - one test runs and passes
    scaffolding: true
    needs_tests: false      # there is nothing yet that a test could be written against
    estimate: 20m

  # An epic only contains beads; it is done when they are.
  - id: login
    type: epic
    title: People can log in

  # One bead is one piece of work for one agent in one session, with a clear end.
  - id: password-hashing
    epic: login
    type: feature
    title: Passwords are stored as salted hashes
    description: Two people with the same password have different hashes.
    acceptance:
      - a stored password can be checked
      - the password itself is never stored or logged
    needs: [scaffold]       # it waits for this
    priority: 1             # 0 comes first, 4 last; 2 if not given
    labels: [security]
    touches: ["src/auth/**"]

  - id: login-form
    epic: login
    type: feature
    title: The login form
    needs: [password-hashing]
    estimate: 1h30m
"""
