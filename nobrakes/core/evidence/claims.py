"""What a record of evidence claims, and whether git's objects and its own runs bear it out."""

from collections.abc import Callable, Mapping
from typing import Any

from ..beads.approval import is_approval
from .record import How, Made, RecordKind

Look = Callable[[str], Made | None]
"""Finds a commit; None: it is not here."""

Content = Callable[[str, str], str]
"""The digest of what differs between two commits (core.review.content); empty: one of them is not here."""


class Claims:
    """What a record claims, taken out of its JSON; KeyError and the like where it is not there."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self.bead = str(record["bead"]["id"])
        self.kind = RecordKind(record["kind"])
        self.merged = str(record["merged"]["commit"])
        self.base = _pair(record["base"])
        self.commits = [_pair(one) for one in record["commits"]]
        self.beads = {str(one["commit"]): str(one.get("bead") or self.bead) for one in record["commits"]}
        self.places = [(name, _pair(record[name])) for name in ("branch", "candidate", "merged") if name in record]
        self.takes_back = [str(one["commit"]) for one in record.get("takes_back", ())]
        self.added_later = str(record.get("added_later", ""))
        self.runs = record["runs"]
        self.contracts = record["contracts"]
        self.validations = [step for step in record["steps"] if step["step"] == "validate"]
        self.steps = [str(step["step"]) for step in record["steps"]]
        self.inner = [one["proof"] for one in record["commits"] if "proof" in one]
        self.stands_for = [one for one in (*self.validations, *self.inner) if one["how"] == How.STANDS_FOR]
        self.places += [("what was run for it", _pair(one["tip"])) for one in self.stands_for]
        self.approval = record.get("approval")
        self.elsewhere = str(record.get("epic", "") or record.get("into", ""))  # whose branch it landed on, not on main
        pull = record.get("pull_request") or {}
        self.proven = str(pull.get("proven", {}).get("commit", ""))  # what people merged as another commit
        # asked for here, so that a record that lacks one of them is found
        self.proofs = [(str(proof["of"]), str(proof["tree"])) for proof in (*self.validations, *self.inner)]

    def contradictions(self, find: Look, here: Mapping[str, Made]) -> list[str]:
        """Where the record and git's objects do not agree."""
        found = []
        for name, (commit, tree) in [("base", self.base), *self.places, *(("a commit", one) for one in self.commits)]:
            made = find(commit)
            if made is None and name != "branch" and commit != self.proven:  # squashed: no copy need hold it
                found.append(f"{name}: {commit[:12]} is not in this repository")
            elif made is not None and made.tree != tree:
                found.append(f"{name}: the tree of {commit[:12]} is {made.tree[:12]}, and the record says {tree[:12]}")
        places = dict(self.places)
        if "candidate" in places and places["candidate"] != places["merged"]:
            found.append("what was merged is not the candidate that was validated")
        trees = {**{name: tree for name, (_, tree) in places.items()}, "main": places["merged"][1]}
        for of, tree in self.proofs:
            if trees.get(of, tree) != tree:
                found.append(f"the validation of {_SPOKEN.get(of, of)} is of another tree, {tree[:12]}")
        found += [text for proof in self.stands_for if (text := self._of_tip(list(here), proof))]
        before = self.base[0]
        for commit, _ in self.commits:
            made = here.get(commit)
            if made is None:
                found.append(f"{commit[:12]}, which it says came to main, is not on main")
            elif made.parents[:1] != (before,):
                found.append(f"{commit[:12]} does not stand on {before[:12]}, as the record says")
            before = commit
        if before != self.merged:
            found.append("the commits that it names do not end with what was merged")
        return found

    def _of_tip(self, newest_first: list[str], proof: Mapping[str, Any]) -> str:
        """What is wrong with the candidate or the tip of a batch whose run stands for this commit; empty: nothing."""
        tip = str(proof["tip"]["commit"])
        if tip == self.proven:
            return ""
        if tip not in newest_first or newest_first.index(tip) > newest_first.index(self.merged):
            return f"the run of {tip[:12]} stands for it, which did not come to main with it"
        return ""

    def not_approved(self, content: Content) -> str:
        """Why what was merged is not what a person said yes to, where that was needed; empty: it is, or was not."""
        if self.approval is None:
            return ""
        by, shown = str(self.approval.get("by", "")), str(self.approval.get("content", ""))
        if not by or not is_approval(str(self.approval.get("words", ""))):
            return f"its merge needed a person's yes ({self.approval.get('why')}), and none is recorded"
        merged = content(self.base[0], self.merged)
        return "" if merged in ("", shown) else f"what was merged is not what {by} approved"

    def not_passed(self) -> list[tuple[bool, str]]:
        """The validations of which no pass is recorded, and whether that was after the merge."""
        if self.kind is not RecordKind.MERGE:
            return []  # what takes a red merge back is not held up by other checks that fail
        wanted = ["validate", "rebase", "validate", "merge", "validate"]
        if self.steps != wanted:
            return [(False, f"its steps are {', '.join(self.steps)}, not {', '.join(wanted)}")]
        proofs = (*self.validations, *self.inner)
        found = [(proof["of"], self._trouble(proof)) for proof in proofs if not self._is_told_unknown(proof)]
        return [(of == "main", f"the validation of {_SPOKEN.get(of, of)}: {text}") for of, text in found if text]

    def unknown(self) -> list[str]:
        """What a record that was added later says that nobody knows any more."""
        proofs = (*self.validations, *self.inner)
        return [f"the validation of {_SPOKEN.get(p['of'], p['of'])}" for p in proofs if self._is_told_unknown(p)]

    def _is_told_unknown(self, proof: Mapping[str, Any]) -> bool:
        """Whether it is said plainly that nobody knows the run; a record of its own time may not say so."""
        return bool(self.added_later) and proof.get("how") == How.UNKNOWN and proof.get("run") is None

    def _trouble(self, proof: Mapping[str, Any]) -> str:
        run = self.runs.get(proof.get("run"))
        if proof.get("how") not in (How.RAN, How.RECORDED, How.STANDS_FOR) or run is None:
            return "no run is recorded for it"
        tree = proof["tip"]["tree"] if proof["how"] == How.STANDS_FOR else proof["tree"]
        if run["tree"] != tree:
            return f"the run that it names is of the tree {str(run['tree'])[:12]}, and not of {str(tree)[:12]}"
        if run["contract"] not in self.contracts or proof.get("contract") != run["contract"]:
            return "the run that it names is not of the checks that it names"
        if run["outcome"] == "fail" and "main_was_red" in proof and self._was_red(proof["main_was_red"]):
            return ""
        outcomes = [check["outcome"] for check in run["checks"]]
        bad = [f"{check['name']}: {check['outcome']}" for check in run["checks"] if check["outcome"] != "pass"]
        if not outcomes or bad or run["outcome"] != "pass":
            return f"it did not pass ({', '.join(bad) or run['outcome']})"
        return ""

    def _was_red(self, main: Mapping[str, Any]) -> bool:
        """Whether main failed too where the branch left it: then only what they do together says anything."""
        run = self.runs.get(main.get("run"), {})
        return bool(run.get("tree") == main["tree"] and run.get("outcome") == "fail")


_SPOKEN = {"branch": "the branch", "candidate": "the candidate", "main": "main after the merge", "commit": "a commit"}


def _pair(place: Mapping[str, Any]) -> tuple[str, str]:
    return str(place["commit"]), str(place["tree"])
