"""What every ports.Processes promises, whatever is behind it."""

import os
from dataclasses import replace

import pytest

from nobrakes.beads.model import Run
from nobrakes.host.port import Remains, Step
from tests.contracts.processes.process_worlds import World, until


@pytest.mark.parametrize("code", [0, 1, 3, 127])
def test_an_exit_code_is_kept(world: World, code: int) -> None:
    run = world.start(world.command("1-1", ("step", world.exits(code))))
    world.finish(run)
    end = world.processes.ending(world.folder("1-1"), ["step"])
    assert (end.steps[0].started, end.steps[0].code) == (True, code)
    assert end.steps[0].seconds >= 0.0
    assert end.prologue_failed is None


def test_output_and_errors_go_to_files_of_their_own(world: World) -> None:
    run = world.start(world.command("1-1", ("step", world.exits(0, "said", "complained"))))
    world.finish(run)
    output = world.processes.ending(world.folder("1-1"), ["step"]).steps[0].output
    assert output == os.path.join(world.folder("1-1"), "step.out")
    assert world.processes.output(output, 100) == "said"
    assert world.processes.output(output.removesuffix(".out") + ".err", 100) == "complained"
    assert world.processes.output(output, 2) == "id"


def test_output_and_errors_can_be_joined(world: World) -> None:
    step = Step("step", world.exits(0, "said ", "complained"), join_output=True)
    run = world.start(world.command("1-1", step))
    world.finish(run)
    assert world.processes.output(os.path.join(world.folder("1-1"), "step.out"), 100) == "said complained"


def test_a_missing_output_is_empty(world: World) -> None:
    assert world.processes.output(str(world.place / "nothing"), 100) == ""


def test_steps_run_in_order_and_stop_at_the_first_that_fails(world: World) -> None:
    steps = (("a", world.exits(0)), ("b", world.exits(3)), ("c", world.exits(0)))
    run = world.start(world.command("1-1", *steps))
    world.finish(run)
    ends = world.processes.ending(world.folder("1-1"), ["a", "b", "c"]).steps
    assert [(end.name, end.started, end.code) for end in ends] == [("a", True, 0), ("b", True, 3), ("c", False, None)]


def test_steps_can_go_on_after_a_failure(world: World) -> None:
    steps = (("a", world.exits(3)), ("b", world.exits(0)))
    run = world.start(world.command("1-1", *steps, keep_going=True))
    world.finish(run)
    assert [end.code for end in world.processes.ending(world.folder("1-1"), ["a", "b"]).steps] == [3, 0]


def test_a_failing_prologue_runs_no_step_and_says_why(world: World) -> None:
    prologue = (world.exits(0), world.exits(7, complains="no such branch"))
    run = world.start(world.command("1-1", ("step", world.exits(0)), prologue=prologue))
    world.finish(run)
    end = world.processes.ending(world.folder("1-1"), ["step"])
    assert (end.steps[0].started, end.steps[0].code) == (False, None)
    assert end.prologue_failed is not None
    assert "exit code 7" in end.prologue_failed
    assert "no such branch" in end.prologue_failed


def test_what_never_ran_has_neither_steps_nor_a_failed_prologue(world: World) -> None:
    end = world.processes.ending(world.folder("9-9"), ["step"])
    assert (end.steps[0].started, end.steps[0].code, end.prologue_failed) == (False, None, None)


def test_a_run_is_alive_until_it_is_killed_and_then_has_no_code(world: World) -> None:
    run = world.start(world.command("1-1", ("step", world.runs_until_stopped()), ("later", world.exits(0))))
    until(lambda: world.processes.ending(world.folder("1-1"), ["step"]).steps[0].started)
    assert world.processes.alive(run)
    world.processes.kill(run)
    assert not world.processes.alive(run)
    ends = world.processes.ending(world.folder("1-1"), ["step", "later"]).steps
    assert [(end.started, end.code) for end in ends] == [(True, None), (False, None)]


def test_terminate_ends_a_run_that_listens_and_no_later_step_runs(world: World) -> None:
    steps = (("step", world.runs_until_stopped()), ("later", world.exits(0)))
    run = world.start(world.command("1-1", *steps, keep_going=True))
    until(lambda: world.processes.ending(world.folder("1-1"), ["step"]).steps[0].started)
    world.processes.terminate(run)
    world.finish(run)
    ends = world.processes.ending(world.folder("1-1"), ["step", "later"]).steps
    assert [(end.started, end.code) for end in ends] == [(True, None), (False, None)]


def test_starting_twice_starts_once(world: World) -> None:
    command = world.command("1-1", ("step", world.runs_until_stopped()), files={"prompt.md": b"as it was"})
    run = world.start(command)
    again = world.processes.start("1-1", replace(command, files={"prompt.md": b"changed"}))
    assert (again.pid, again.mark) == (run.pid, run.born)
    assert world.processes.output(os.path.join(command.folder, "prompt.md"), 100) == "as it was"
    until(lambda: world.processes.ending(command.folder, ["step"]).steps[0].started)
    world.processes.kill(run)
    world.processes.start("1-1", command)
    assert not world.processes.alive(run)


def test_a_run_that_ended_is_not_started_again(world: World) -> None:
    command = world.command("1-1", ("step", world.exits(5)))
    run = world.start(command)
    world.finish(run)
    again = world.known("1-1", world.processes.start("1-1", command))
    assert not world.processes.alive(again)
    assert world.code(again) == 5


def test_what_a_run_leaves_behind_is_alive_and_can_be_killed(world: World) -> None:
    run = world.start(world.command("1-1", ("step", world.leaves_something_behind())))
    until(lambda: world.code(run) == 0)
    assert world.processes.alive(run)
    world.processes.kill(run)
    assert not world.processes.alive(run)
    assert world.code(run) == 0


def begun(world: World, run: Run, step: str = "step") -> bool:
    return world.processes.ending(world.folder(run.id), [step]).steps[0].started


def test_what_remains_of_a_run_is_told(world: World) -> None:
    run = world.start(world.command("1-1", ("step", world.waits("leaves"))))
    until(lambda: begun(world, run))
    assert world.remains(run) is Remains.WHOLE
    world.go()
    until(lambda: world.remains(run) is Remains.REST)
    world.processes.kill(run)
    assert world.remains(run) is Remains.NOTHING
    end = world.processes.ending(world.folder("1-1"), ["step"])
    assert (end.over, end.cut_off, end.steps[0].code) == (True, False, 0)


def test_a_program_whose_wrapper_was_killed_may_finish_and_nobody_knows_its_code(world: World) -> None:
    run = world.start(world.command("1-1", ("step", world.waits()), ("later", world.exits(0))))
    until(lambda: begun(world, run))
    world.cut(run)
    until(lambda: world.remains(run, "step", "later") is Remains.STEP)
    assert world.processes.alive(run)
    world.go()
    until(lambda: world.remains(run, "step", "later") is Remains.NOTHING)
    end = world.processes.ending(world.folder("1-1"), ["step", "later"])
    assert [(step.started, step.code) for step in end.steps] == [(True, None), (False, None)]
    assert (end.over, end.cut_off) == (False, True)
    assert world.processes.output(end.steps[0].output, 100).strip() == "done"


def test_what_a_program_without_its_wrapper_leaves_behind_is_the_rest(world: World) -> None:
    run = world.start(world.command("1-1", ("step", world.waits("leaves"))))
    until(lambda: begun(world, run))
    world.cut(run)
    until(lambda: world.remains(run) is Remains.STEP)
    world.go()
    until(lambda: world.remains(run) is Remains.REST)
    world.processes.kill(run)
    assert world.processes.ending(world.folder("1-1"), ["step"]).cut_off


def test_a_run_that_was_killed_whole_is_gone_at_the_next_look(world: World) -> None:
    run = world.start(world.command("1-1", ("step", world.runs_until_stopped())))
    until(lambda: begun(world, run))
    world.cut(run, down=True)
    until(lambda: world.remains(run) is Remains.NOTHING)
    assert world.processes.ending(world.folder("1-1"), ["step"]).cut_off


def test_a_preparation_whose_wrapper_was_killed_leads_to_no_step(world: World) -> None:
    prologue = (world.waits(), world.exits(0))
    run = world.start(world.command("1-1", ("step", world.exits(0)), prologue=prologue))
    until(lambda: world.processes.ending(world.folder("1-1"), ["step"]).prologue_failed)
    world.cut(run)
    until(lambda: world.remains(run) in (Remains.REST, Remains.NOTHING))
    world.go()
    until(lambda: world.remains(run) is Remains.NOTHING)
    end = world.processes.ending(world.folder("1-1"), ["step"])
    assert end.prologue_failed and end.cut_off and not end.steps[0].started


def test_a_program_without_its_wrapper_can_be_stopped(world: World) -> None:
    run = world.start(world.command("1-1", ("step", world.waits())))
    until(lambda: begun(world, run))
    world.cut(run)
    until(lambda: world.remains(run) is Remains.STEP)
    world.processes.terminate(run)
    until(lambda: world.remains(run) is Remains.NOTHING)


def test_a_wrapper_that_is_killed_between_two_steps_is_no_step_at_work(world: World) -> None:
    run = world.start(world.command("1-1", ("step", world.leaves_something_behind())))
    until(lambda: world.code(run) == 0)
    world.cut(run)
    until(lambda: world.remains(run) is Remains.REST)
    world.processes.kill(run)
    assert not world.processes.ending(world.folder("1-1"), ["step"]).cut_off


def test_stopping_what_is_gone_is_no_error(world: World) -> None:
    run = world.start(world.command("1-1", ("step", world.exits(0))))
    world.finish(run)
    world.processes.terminate(run)
    world.processes.kill(run)
    never = replace(run, id="2-1", pid=None, born="")
    world.processes.kill(never)
    assert not world.processes.alive(never)


def test_runs_do_not_touch_each_other(world: World) -> None:
    one = world.start(world.command("1-1", ("step", world.runs_until_stopped())))
    other = world.start(world.command("2-1", ("step", world.runs_until_stopped())))
    world.processes.kill(one)
    assert not world.processes.alive(one)
    assert world.processes.alive(other)


def test_silence_has_the_same_fingerprint_and_a_sign_of_life_another(world: World) -> None:
    run = world.start(world.command("1-1", ("step", world.runs_until_stopped())))
    folder, workspace = world.folder("1-1"), world.place / "workspace"
    workspace.mkdir()
    until(lambda: world.processes.ending(folder, ["step"]).steps[0].started)
    before = world.processes.activity(run, folder, str(workspace))
    run = replace(run, activity=before)
    assert world.processes.activity(run, folder, str(workspace)) == before
    with open(os.path.join(folder, "step.out"), "a") as file:
        file.write("a word\n")
    spoken = world.processes.activity(run, folder, str(workspace))
    assert spoken != before
    run = replace(run, activity=spoken)
    (workspace / "new.py").write_text("1")
    assert world.processes.activity(run, folder, str(workspace)) != spoken
