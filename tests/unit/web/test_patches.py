"""A patch becomes numbered rows; what an agent wrote in it stays text."""

from nobrakes.web.rendering import read

PATCH = """diff --git a/shop/basket.py b/shop/basket.py
index 1..2 100644
--- a/shop/basket.py
+++ b/shop/basket.py
@@ -1,4 +1,5 @@ class Basket:
 import sys
-total = 0
-rest = 1
+total = "<script>"
 # a comment
+def more(): pass
diff --git a/logo.png b/logo.png
new file mode 100644
Binary files /dev/null and b/logo.png differ
"""


def test_lines_are_numbered_on_both_sides() -> None:
    code, picture = read(PATCH).files
    assert code.path == "shop/basket.py" and picture.note == "new file mode 100644, no text"
    assert [(row.kind, row.before, row.after) for row in code.rows] == [
        ("hunk", None, None),
        ("same", 1, 1),
        ("removed", 2, None),
        ("removed", 3, None),
        ("added", None, 2),
        ("same", 4, 3),
        ("added", None, 4),
    ]


def test_what_went_and_what_came_stand_beside_each_other() -> None:
    pairs = [(left and left.before, right and right.after) for left, right in read(PATCH).files[0].pairs()]
    assert pairs == [(None, None), (1, 1), (2, 2), (3, None), (4, 3), (None, 4)]


def test_colours_change_no_character() -> None:
    rows = read(PATCH).files[0].rows
    texts = ["".join(text for _, text in row.pieces) for row in rows[1:]]
    assert texts == ["import sys", "total = 0", "rest = 1", 'total = "<script>"', "# a comment", "def more(): pass"]
    assert ("s", '"<script>"') in rows[4].pieces and rows[1].pieces[0] == ("k", "import")


def test_too_much_is_cut_and_counted_and_escapes_are_gone() -> None:
    body = "".join(f"+line {n} \x1b[31mred\u202e\n" for n in range(50))
    found = read(f"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,50 @@\n{body}", most=20)
    assert found.left == 30 and len(found.files[0].rows) == 21
    assert not any("\x1b" in text or "\u202e" in text for row in found.files[0].rows for _, text in row.pieces)


def test_what_is_no_patch_gives_no_file() -> None:
    assert read("").files == () and read("+ not a patch\n- at all").files == ()
