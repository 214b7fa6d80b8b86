"""The guard that an agent CLI asks before each tool call: exit 0 allows it, exit 2 with a reason refuses it.

1. It only advises; the private clone and the Reviewer are the walls.
2. It fails closed: unreadable input, an unknown caller, a bug or 8 seconds are a no.
3. It runs thousands of times a day as `python -I -S guard.py`, so it imports nothing heavy, not even `json` or `re`.
4. At the start of a session it proves by two known cases that it answers. Claude Code shows `--canary`'s output; for
   others the start call leaves SELF_TEST in the file NOBRAKES_CANARY.
5. A command of `agents.ask_first` files a question and passes once for each approval. Only that reaches the database or
   the daemon.
6. Claude Code, Codex and Gemini CLI all take exit 2 and a reason on stderr.
"""

import sys

SELF_TEST = "nobrakes-guard: ready"
SECONDS = 8
REFUSED = 2


def read_json(text: str) -> object:
    """ValueError for anything but one JSON value. `json` would cost 7 ms, for `re`."""
    from _json import make_scanner

    class Context:
        strict = True
        object_hook = object_pairs_hook = None
        parse_float, parse_int = float, int
        parse_constant = str
        memo: dict[str, str] = {}  # noqa: RUF012

    text = text.strip(" \t\r\n")
    try:
        value, end = make_scanner(Context)(text, 0)  # type: ignore[arg-type]
    except (StopIteration, RecursionError):
        raise ValueError("no JSON") from None
    if end != len(text):
        raise ValueError("more than one JSON value")
    return value


def main(arguments: list[str]) -> int:
    """Decide about the call on stdin, or answer a self-test; returns the exit code."""
    import _signal  # type: ignore[import-not-found]  # `signal` would import `enum`

    _signal.signal(_signal.SIGALRM, _signal.SIG_DFL)
    _signal.alarm(SECONDS)  # who waits for us takes a hanging guard for a yes
    if not __package__:
        sys.path.insert(0, __file__.rsplit("/", 3)[0])
    try:
        import os

        from nobrakes.hooks.rules import MORE, NEEDED, Place, asks_first, decide

        place = Place.of({name: os.environ[name] for name in (*NEEDED, *MORE.values()) if name in os.environ})
        if arguments == ["--canary"]:
            return self_test(place)
        call = read_json(sys.stdin.buffer.read().decode())
        if isinstance(call, dict) and call.get("hook_event_name") == "SessionStart":
            return self_test(place, os.environ["NOBRAKES_CANARY"])
        why = decide(call, place)
        asks = asks_first(call, place) if why is None else None
        if asks is not None:
            from nobrakes.agents.service.own_work import why_not

            why = why_not(*asks)
    except Exception as error:  # whatever it is, it is a no
        why = f"the guard cannot judge this call ({type(error).__name__}: {error})"
    if why is None:
        return 0
    sys.stderr.write(f"nobrakes refuses this tool call: {why}\n")
    return REFUSED


def self_test(place: object, path: str = "") -> int:
    """Decide one call that must be refused and one that must pass; report it, or write it to `path`."""
    from nobrakes.hooks.rules import decide

    def call(command: str) -> object:
        return {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}}

    if decide(call("git push"), place) is None or decide(call("git status"), place) is not None:
        sys.stderr.write("the guard's self-test failed\n")
        return REFUSED
    if path:
        with open(path, "w", encoding="ascii") as file:
            file.write(SELF_TEST + "\n")
    else:
        sys.stdout.write(SELF_TEST + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
