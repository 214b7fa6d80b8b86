"""The docs as a site: README, CONTRIBUTING and docs/, staged beside each other, and built by mkdocs-material.

python -m docs.generate.site FOLDER      needs .ci/tools; fails at a link that leads nowhere or a page in no menu

1. The menu is docs/index.md: its sections, and for a page that is an index itself the sections of that.
2. The files keep their places, so that each link of the repository is a link of the site.
3. Lists are indented as GitHub reads them, by two columns; Python-Markdown wants four.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MKDOCS = ROOT / ".ci" / ".venv" / "bin" / "mkdocs"
CONFIG = """
site_name: nobrakes
docs_dir: pages
use_directory_urls: false
theme:
  name: material
  font: false
  features: [navigation.indexes, navigation.top, search.highlight, search.suggest, content.code.copy]
plugins: [search]
extra: {generator: false}
markdown_extensions:
  - tables
  - toc:
      permalink: true
      slugify: !!python/object/apply:pymdownx.slugs.slugify
        kwds: {case: lower}
  - pymdownx.superfences:
      custom_fences:
        - name: mermaid
          class: mermaid
          format: !!python/name:pymdownx.superfences.fence_code_format
validation:
  nav: {omitted_files: warn, not_found: warn, absolute_links: warn}
  links: {not_found: warn, anchors: warn, absolute_links: warn, unrecognized_links: warn}
nav: """
_SECTION = re.compile(r"^\*\*(.+)\*\*$")
_LINK = re.compile(r"\[([^]]+)\]\(([^)#:\s]+\.md)\)")
_ITEM = re.compile(r"^ *(?:[-*]|\d+\.) ")


def pages() -> list[str]:
    """The files of the site, from the top of the repository."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run([*command, "docs", ":(glob)*.md", ":(glob)*/README.md"], check=True, capture_output=True)
    return [one for one in listed.stdout.decode().split("\0") if one and not one.endswith(".py")]


def menu(index: Path) -> list[Any]:
    """The sections of an index page, each with its pages; below a page those that its line names besides."""
    sections: list[Any] = []
    blocks = re.split(r"\n(?=\*\*|- )", index.read_text(encoding="utf-8"))
    links = {block: [(name, _place(index, path)) for name, path in _LINK.findall(block)] for block in blocks}
    firsts = {found[0][1] for block, found in links.items() if block.startswith("- ")}
    for block in blocks:
        if title := _SECTION.match(block.strip()):
            sections.append({title[1]: []})
        elif block.startswith("- "):
            (name, place), *others = links[block]
            below: list[Any] = [{name: place} for name, place in others if place not in firsts]
            if place.endswith("index.md"):
                below = menu(ROOT / place)
            (found,) = sections[-1].values()
            found.append({name: [place, *below] if below else place})
    return sections


def _place(index: Path, path: str) -> str:
    """Where the page lies, from the top of the repository."""
    return os.path.relpath(index.parent / path, ROOT)


def indented(text: str) -> str:
    """Lists set off by an empty line and indented by four columns; code stays as it is."""
    out: list[str] = []
    in_code = in_list = False
    for line in text.splitlines():
        if line.startswith("```"):
            in_code, in_list = not in_code, False
        elif not in_code:
            is_item = bool(_ITEM.match(line)) and (in_list or not line.startswith("    "))
            if is_item and not in_list and out and out[-1].strip():
                out.append("")
            in_list = is_item or (in_list and (not line.strip() or line.startswith(" ")))
            if in_list:
                line = " " * (len(line) - len(line.lstrip(" "))) + line
        out.append(line)
    return "\n".join(out) + "\n"


def stage(folder: Path) -> Path:
    """The pages and the settings of mkdocs in this folder; returns the settings."""
    for name in pages():
        target = folder / "pages" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".md"):
            target.write_text(indented((ROOT / name).read_text(encoding="utf-8")), encoding="utf-8")
        else:
            shutil.copyfile(ROOT / name, target)
    (folder / "mkdocs.yml").write_text(
        CONFIG
        + json.dumps([{"nobrakes": "README.md"}, {"All pages": "docs/index.md"}, *menu(ROOT / "docs" / "index.md")])
    )
    return folder / "mkdocs.yml"


def build(config: Path, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Build the site in the folder; a warning is an error."""
    command: list[str | Path] = [MKDOCS, "build", "--strict", "-f", config, "-d", folder.absolute()]
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def main(argv: list[str]) -> int:
    """Build the site into a new folder."""
    with tempfile.TemporaryDirectory(prefix="nobrakes-site-") as folder:
        done = build(stage(Path(folder)), Path(argv[0]))
    sys.stdout.write(done.stdout)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
