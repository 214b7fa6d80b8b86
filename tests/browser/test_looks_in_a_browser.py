"""What the main pages look like: at a desk and on a phone, in the light and in the dark, as they were recorded.

1. Pictures are compared only where letters are drawn as on the machine that recorded them: the same Chromium, and the same
   measures of the same words (`made-with.json`). With other fonts every picture differs, and that proves nothing about
   the pages. There the layout is compared instead (`layout.json`): where the landmarks of a page begin and how wide they
   are. That comes from the style sheets and not from the letters, so another machine is no reason to fail.
2. Data are fixed. What differs from run to run (ages, times of day) is made the same in the page before it is taken.
3. After a change that is meant, look at the pictures, and write them anew:
   NOBRAKES_LOOKS=write pytest tests/browser/test_looks_in_a_browser.py
"""

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import DESKTOP, PHONE, Person

pytestmark = pytest.mark.slow
HAS_TO_WRITE = os.environ.get("NOBRAKES_LOOKS") == "write"  # read here: what a test sees of the environment is cleaned
LOOKS = Path(__file__).parent / "looks"
PAGES = {"now": "", "desk": "desk/1", "board": "board", "graph": "graph?mode=all", "bead": "bead/till", "plan": "plan",
         "live": "live", "breaker": "breaker"}  # fmt: skip
SIZES = {"desktop": DESKTOP, "phone": PHONE}
LEVELS, CHANNEL, PIXELS = 16, 24, 200
"""Levels of red, green and blue that are recorded; by how much of 255 they may differ, which is more than one level; and
how many pixels may differ by more."""
SHIFT = 12
"""Pixels by which a landmark may stand elsewhere where other fonts are drawn."""
MEASURES = """() => {
  const style = getComputedStyle(document.body), mono = getComputedStyle(document.querySelector("code") ?? document.body);
  const pen = document.createElement("canvas").getContext("2d");
  return [style, mono].map((one) => { pen.font = `14px ${one.fontFamily}`;
    return Math.round(100 * pen.measureText("Stop the daemon, Qualität 0123456789 → ✓").width); });
}"""
SAME = r"""() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const text = node.nodeValue.replace(/\d{4}-\d\d-\d\d/g, "2030-01-31").replace(/\b\d\d:\d\d:\d\d\b/g, "12:00:00")
      .replace(/\b\d\d:\d\d\b(?!:)/g, "12:00").replace(/\b\d+ (s|min)\b/g, "5 $1")
      .replace(/\b(green|red:|proven:?) [0-9a-f]{7}\b/g, "$1 0123456");
    if (text !== node.nodeValue) node.nodeValue = text;
  }
}"""
LANDMARKS = """() => [...document.querySelectorAll("header.bar, nav.ways, main, .two, .desk, .column, .stack, .graph, section")]
  .filter((one) => one.offsetParent !== null || getComputedStyle(one).position === "fixed")
  .map((one) => { const box = one.getBoundingClientRect();
    return [one.id || one.getAttribute("aria-labelledby") || one.className || one.localName, Math.round(box.x), Math.round(box.width)]; })"""


def taken(person: Person, path: str) -> tuple[bytes, list[list[Any]]]:
    """The picture of the page, and its landmarks as [name, x, width]."""
    page = person.goes(path)
    page.wait_for_load_state("networkidle")
    page.evaluate(SAME)
    return page.screenshot(animations="disabled", caret="hide"), page.evaluate(LANDMARKS)


def reduced(picture: bytes) -> Any:
    """The picture with LEVELS levels of each colour, which is few enough for a small file."""
    from PIL import Image

    step = 255 / (LEVELS - 1)
    whole = Image.open(io.BytesIO(picture)).convert("RGB")
    return whole.point([round(round(value / step) * step) for value in range(256)] * 3)


def saved(picture: Any, file: Path) -> None:
    """Written, and read again as it was."""
    from PIL import Image

    picture.quantize(256, dither=Image.Dither.NONE).save(file, optimize=True)
    assert differing(Image.open(file), picture) == 0, f"{file} has too many colours"


def differing(one: Any, other: Any) -> int:
    """How many pixels of two pictures are not the same colour."""
    from PIL import ImageChops

    if one.size != other.size:
        return max(one.size[0] * one.size[1], PIXELS + 1)
    apart = ImageChops.difference(one.convert("RGB"), other.convert("RGB"))
    most = ImageChops.lighter(ImageChops.lighter(*apart.split()[:2]), apart.split()[2])
    return sum(most.histogram()[CHANNEL + 1 :])


def is_shifted(told: list[list[Any]], now: list[list[Any]]) -> list[str]:
    """What stands elsewhere than it did."""
    if [one[0] for one in told] != [one[0] for one in now]:
        return [f"the landmarks are {[one[0] for one in now]}, and were {[one[0] for one in told]}"]
    pairs = zip(told, now, strict=True)
    return [f"{a} is at {b}" for a, b in pairs if max(abs(a[1] - b[1]), abs(a[2] - b[2])) > SHIFT]


@pytest.fixture
def recorded() -> dict[str, Any]:
    """What layouts were recorded, and how letters were drawn then."""
    if HAS_TO_WRITE:
        return {}
    return {name: json.loads((LOOKS / f"{name}.json").read_text()) for name in ("layout", "made-with")}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_the_main_pages_look_as_they_did(
    chromium: Any, served: Any, tmp_path: Path, recorded: dict[str, Any], size: str, theme: str
) -> None:
    from PIL import Image

    person = Person(chromium, served, viewport=SIZES[size], color_scheme=theme, has_touch=size == "phone")
    person.log_in()
    person.page.route_web_socket("**/socket", lambda line: None)  # a page that is taken hears nothing
    letters = [chromium.version.partition(".")[0], *person.goes("board").evaluate(MEASURES)]
    layouts, wrong = {}, []
    for name, path in PAGES.items():
        picture, layouts[name] = taken(person, path)
        file = LOOKS / f"{name}-{size}-{theme}.png"
        if HAS_TO_WRITE:
            LOOKS.mkdir(exist_ok=True)
            saved(reduced(picture), file)
        elif letters == recorded["made-with"]:
            told = Image.open(file)
            if (count := differing(told, reduced(picture))) > PIXELS:
                (tmp_path / file.name).write_bytes(picture)
                wrong.append(f"{count} pixels of {file.name} differ: it is {tmp_path / file.name}")
        if not HAS_TO_WRITE:
            wrong += [f"{name}: {one}" for one in is_shifted(recorded["layout"][size][name], layouts[name])]
    person.made_no_errors()
    person.close()
    if HAS_TO_WRITE:
        _write("layout", {**_read("layout"), size: layouts})
        _write("made-with", letters)
    assert wrong == [], "\n".join([*wrong, "If it is meant: NOBRAKES_LOOKS=write, and look at the pictures"])


def _read(name: str) -> dict[str, Any]:
    path = LOOKS / f"{name}.json"
    return dict(json.loads(path.read_text())) if path.exists() else {}


def _write(name: str, value: Any) -> None:
    text = json.dumps(value, indent=1).replace("\n   ", " ").replace("\n  ]", "]")
    (LOOKS / f"{name}.json").write_text(text + "\n")


def test_a_shifted_landmark_and_a_recoloured_box_are_seen(chromium: Any, served: Any) -> None:
    """The proof that the comparison can fail: a wider column, a thinner gap, another colour of a button."""
    person = Person(chromium, served, bypass_csp=True).log_in()
    person.page.route_web_socket("**/socket", lambda line: None)
    picture, layout = taken(person, "breaker")
    told = reduced(picture)
    assert differing(told, reduced(taken(person, "breaker")[0])) <= PIXELS
    for css, is_layout in ((".two{gap:60px}", True), ("button.danger,button.small{background:#7af}", False)):
        page = person.goes("breaker")
        page.add_style_tag(content=css)
        page.evaluate(SAME)
        assert differing(told, reduced(page.screenshot(animations="disabled", caret="hide"))) > PIXELS, css
        assert bool(is_shifted(layout, page.evaluate(LANDMARKS))) == is_layout, css
    person.close()
