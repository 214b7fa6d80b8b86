"""Lines that assert something, counted by language, and what a change takes away."""

import pytest

from nobrakes.checks.proof import assertions_count, fewer

PYTHON = """
import pytest
def test_a(self):
    assert 1 == 1
    self.assertEqual(1, 1)
    # assert 2 == 3
    with pytest.raises(ValueError):
        go()
    mock.assert_called_once_with(3)
    text = "we assert nothing"
"""
SCRIPT = """
test('adds', async () => {
  expect(add(1, 2)).toBe(3);
  await expect(go()).rejects.toThrow();
  // expect(1).toBe(2);
  assert.equal(1, 1);
  assert(ok);
  t.is(1, 1);
  t.plan(2);
  cart.should.be.empty;
});
"""
GO = """
func TestA(t *testing.T) {
	if got != want {
		t.Errorf("got %v", got)
	}
	require.NoError(t, err)
	// t.Fatal("x")
	t.Log("fine")
	t.Fatal("no")
}
"""
RUST = """
#[test]
#[should_panic(expected = "x")]
fn a() {
    assert_eq!(1, 1);
    assert!(true);
    // assert!(false);
    println!("assert");
}
"""
JAVA = """
@Test(expected = Boom.class)
void a() {
    assertEquals(1, 1);
    assertThat(x).isEqualTo(1);
    verify(mock).called();
    assert x > 0;
    // assertTrue(false);
    call();
}
"""


@pytest.mark.parametrize(
    ("path", "text", "number"),
    [
        ("tests/test_a.py", PYTHON, 4),
        ("a.test.ts", SCRIPT, 6),
        ("a_test.go", GO, 3),
        ("tests/a.rs", RUST, 3),
        ("ATest.java", JAVA, 5),
        ("tests/test_a.sh", "assert 1\n", None),
        ("Makefile", "assert 1\n", None),
        ("tests/test_a.py", "", 0),
    ],
)
def test_lines_that_assert_are_counted(path: str, text: str, number: int | None) -> None:
    assert assertions_count(path, text) == number


ONE, TWO = "assert a\n", "assert a\nassert b\n"


def test_a_file_that_asserts_less_is_told_with_its_numbers() -> None:
    (lost,) = fewer({"t.py": TWO}, {"t.py": ONE})
    assert str(lost) == "t.py: 1 line asserts something, and before the change 2 did"
    assert fewer({"t.py": ONE}, {"t.py": TWO}) == [] and fewer({"t.py": ONE}, {"t.py": "assert c\n"}) == []


def test_more_in_one_file_does_not_make_up_for_less_in_another() -> None:
    assert [f.paths for f in fewer({"a.py": TWO, "b.py": ONE}, {"a.py": ONE, "b.py": TWO})] == [("a.py",)]


def test_a_file_that_moved_has_lost_nothing_and_one_that_is_gone_has() -> None:
    assert fewer({"a.py": TWO}, {"b.py": TWO}) == []
    (lost,) = fewer({"a.py": TWO, "x.txt": "assert"}, {"b.py": ONE})
    assert (lost.paths, lost.before, lost.after) == (("a.py",), 2, 1)
    assert fewer({"a.txt": TWO}, {}) == []
