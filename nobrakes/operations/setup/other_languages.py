"""Projects in Ruby, Perl, Java, PHP and shell: the runner of their tests, told from files that only it has.

1. A kind of project is there where its tests are: a Gemfile for the website beside a Python project is none.
2. What a lock file holds is brought in by `setup`; else the checks use what is installed.
"""

import os
import re

from .detected import Found, exists, read

_PERL = ("Makefile.PL", "Build.PL", "cpanfile", "dist.ini", "minil.toml", "META.json")
_RAKE_TEST = re.compile(
    r"TestTask\.new(?!\s*\()|TestTask\.new\(\s*:?[\"']?test\b|^\s*task[ (]+:?[\"']?test\b", re.MULTILINE
)


def detect(root: str) -> list[Found]:
    """The projects of these kinds in `root`, each with a check of its tests."""
    return [one for one in (_ruby(root), _perl(root), _java(root), _php(root), _shell(root)) if one is not None]


def _ruby(root: str) -> Found | None:
    has_lock = exists(root, "Gemfile.lock")
    run = "bundle exec " if has_lock else ""
    rakefile = read(root, "Rakefile") or read(root, "rakefile") or ""
    if exists(root, ".rspec") or _has(root, "spec", "_spec.rb"):
        command = f"{run}rspec"
    elif _RAKE_TEST.search(rakefile):
        command = f"{run}rake test"
    else:
        return None
    return Found("ruby", (("test", command),), "bundle install" if has_lock else "")


def _perl(root: str) -> Found | None:
    if not any(exists(root, name) for name in _PERL) or not _has(root, "t", ".t"):
        return None
    return Found("perl", (("test", "prove -lrv t"),))


def _java(root: str) -> Found | None:
    if exists(root, "pom.xml"):
        return Found("java", (("test", "./mvnw -B test" if exists(root, "mvnw") else "mvn -B test"),))
    if exists(root, "build.gradle") or exists(root, "build.gradle.kts"):
        return Found("java", (("test", "./gradlew test" if exists(root, "gradlew") else "gradle test"),))
    return None


def _php(root: str) -> Found | None:
    if not exists(root, "phpunit.xml") and not exists(root, "phpunit.xml.dist"):
        return None
    setup = "composer install --no-interaction" if exists(root, "composer.lock") else ""
    return Found("php", (("test", "vendor/bin/phpunit"),), setup)


def _shell(root: str) -> Found | None:
    folder = next((name for name in ("test", "tests") if _has(root, name, ".bats")), None)
    return Found("shell", (("test", f"bats -r {folder}"),)) if folder else None


def _has(root: str, folder: str, ending: str) -> bool:
    """Whether a file below the folder ends so."""
    return any(name.endswith(ending) for _, _, names in os.walk(os.path.join(root, folder)) for name in names)
