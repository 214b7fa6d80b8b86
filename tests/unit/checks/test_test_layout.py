"""Which files are tests, in the layouts of many ecosystems, beside product files that are called alike."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobrakes import globs
from nobrakes.checks import test_paths as tests_of
from nobrakes.checks.test_paths import Layout, layout, unclear, writers
from nobrakes.globs import matches
from tests.support.calls import calls

UNITTEST = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(1, 1)\n"
JS = "const test = require('node:test')\ntest('adds', () => {})\n"


@dataclass(frozen=True)
class Case:
    """A repository: its tests, its product, and tests that somebody may add. Values are texts that matter."""

    tests: dict[str, str] = field(default_factory=dict)
    product: dict[str, str] = field(default_factory=dict)
    added: dict[str, str] = field(default_factory=dict)


def files(*paths: str, text: str = "") -> dict[str, str]:
    return dict.fromkeys(paths, text)


CASES = {
    "django": Case(
        {"polls/tests.py": "from django.test import TestCase\n", "shop/tests/test_a.py": "",
         "shop/tests/factories.py": "", "shop/tests/data/a.json": "", "polls/fixtures/polls.json": ""},
        files("manage.py", "polls/models.py", "shop/fixtures/goods.json", "shop/views.py", "testimonials/models.py",
              "shop/testing.py", "attestation/contest.py", "attestation/latest.py"),
        {"new/tests.py": UNITTEST, "new/test_more.py": ""},
    ),
    "django itself": Case(
        files("tests/auth_tests/test_a.py", "tests/auth_tests/models.py", "tests/runtests.py", "tests/utils.py"),
        files("django/test/client.py", "django/test/testcases.py", "django/test/__init__.py", "django/test/utils.py",
              "django/utils/html.py", "setup.cfg"),
    ),
    "a template language": Case(
        files("tests/test_env.py", "tests/res/a.html", "tests/conftest.py"),
        {"src/jinja/tests.py": "def test_odd(value):\n    return value % 2\n", "src/jinja/sandbox.py": "",
         "src/setup/command/test.py": "import unittest\nclass Loader(unittest.TestLoader):\n    pass\n"},
        files("tests/test_more.py", "tests/helpers.py"),
    ),
    "numbers": Case(
        files("num/tests/test_core.py", "num/testing/tests/test_utils.py", "num/tests/__init__.py", "num/tests/common.py"),
        files("num/testing/__init__.py", "num/testing/overrides.py", "num/testing/_private/utils.py", "num/core.py"),
    ),
    "python, flat": Case(
        files("test_calc.py", "conftest.py", "calc_test.py"), files("calc.py", "setup.py", "fixtures.py", "data/a.csv")
    ),
    "pytest's own folders": Case(
        {"checks/check_a.py": "", "checks/check_b.py": "", "checks/world.py": ""},
        {"pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["checks", "src"]\npython_files = ["check_*.py"]\n',
         "src/shop.py": "", "src/basket.py": "", "src/price.py": ""},
        files("checks/check_c.py"),
    ),
    "pytest is pointed to the package, and its tests are in it": Case(
        files("money/tests/test_add.py", "money/tests/test_sub.py", "money/coins/tests/test_coins.py"),
        {"pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["money"]\n',
         **files("money/__init__.py", "money/add.py", "money/sub.py", "money/coins/coins.py")},
        files("money/tests/test_c.py", "money/test_d.py"),
    ),
    "pytest is pointed to the package, and its tests are beside its modules": Case(
        files("money/test_add.py", "money/test_sub.py", "money/test_all.py"),
        {"setup.cfg": "[tool:pytest]\ntestpaths = money\n", **files("money/add.py", "money/sub.py", "money/cli.py")},
    ),
    "python, nothing yet": Case(
        {}, files("pyproject.toml", "src/shop/basket.py"), files("tests/test_a.py", "tests/helpers.py", "test_b.py")
    ),
    "monorepo": Case(
        files("packages/a/tests/test_a.py", "packages/a/tests/helpers.py", "packages/b/src/x.test.ts",
              "packages/b/src/__snapshots__/x.test.ts.snap", "packages/b/src/__mocks__/fs.ts", "packages/b/types/a.tst.ts", "services/c/pay_test.go",
              "services/c/testdata/in.json"),
        files("packages/a/a.py", "packages/b/package.json", "packages/b/src/x.ts", "packages/b/src/features/x.tsx",
              "services/c/go.mod", "services/c/pay.go", "services/c/contest.go"),
        files("packages/b/src/new.spec.tsx", "packages/b/__tests__/a.js"),
    ),
    "react features": Case(
        files("src/features/cart.test.tsx", "src/test/setup.test.ts"),
        files("package.json", "src/features/cart.tsx", "src/features/spec/parse.ts", "src/latest.ts", "src/e2e/link.ts"),
    ),
    "node, root test.js": Case(
        {"test.js": JS, "fixtures/a.txt": ""}, files("package.json", "index.js", "lib/test/runner.js"),
        files("more.test.js"),
    ),
    "node, a script": Case(
        {"test.js": "var run = require('./mod.js')\nrun()\n", "a/test.mjs": "import './x.mjs'"},
        {"package.json": '{"scripts": {"test": "node test.js"}}', "a/package.json": '{"scripts": {"test": "jest"}}',
         "mod.js": "", "b/test.js": "export default 1", "b/package.json": "{}", "src/test.js": "probe()"},
    ),
    "mocha": Case(
        {"test/app.js": "describe('app', () => {})", "test/all.js": "it('goes', function () {})",
         "test/support/env.js": "", "test/fixtures/a.html": ""},
        files("package.json", "lib/app.js", "lib/test.js"),
        files("test/more.js"),
    ),
    "e2e that is no test": Case(
        files("test/a.spec.ts"), files("package.json", "src/e2e/encrypt.ts", "e2e/keys.ts", "src/spec/reader.ts")
    ),
    "maven": Case(
        files("src/test/java/FooTest.java", "src/test/resources/a.xml", "core/src/test/java/Help.java"),
        files("pom.xml", "src/main/java/Foo.java", "src/main/java/test/ABTest.java", "core/src/main/java/LoadTest.java"),
        files("web/src/test/java/BarTest.java"),
    ),
    "maven, nothing yet": Case({}, files("pom.xml"), files("src/test/java/FooTest.java", "src/test/resources/a.txt")),
    "gradle": Case(
        files("app/src/test/kotlin/ATest.kt", "app/src/integrationTest/kotlin/B.kt", "app/src/androidTest/java/C.java"),
        files("app/build.gradle.kts", "app/src/main/kotlin/A.kt", "app/src/latest/java/X.java"),
    ),
    ".net": Case(
        files("test/Shop.Tests/Shop.Tests.csproj", "test/Shop.Tests/BasketTests.cs", "test/Shop.Tests/data/a.json",
              "Shop.UnitTests/Shop.UnitTests.csproj", "Shop.UnitTests/Helper.cs"),
        files("src/Shop/Shop.csproj", "src/Shop/Basket.cs", "src/Contest/Contest.csproj", "src/Contest/A.cs"),
        files("test/New.Tests/New.Tests.csproj", "test/New.Tests/ATests.cs"),
    ),
    "rspec": Case(
        files("spec/models/user_spec.rb", "spec/spec_helper.rb", "spec/fixtures/a.yml", "spec/support/b.rb"),
        files("Gemfile", "lib/user.rb", "lib/spec/parser.rb", "app/models/inspector.rb"),
        files("spec/models/new_spec.rb"),
    ),
    "minitest": Case(
        files("test/test_user.rb", "test/user_test.rb", "test/helper.rb", "test/fixtures/a.yml"),
        files("Rakefile", "lib/minitest/test.rb", "lib/minitest/test_task.rb", "lib/user.rb"),
    ),
    "elixir umbrella": Case(
        files("apps/web/test/page_test.exs", "apps/web/test/test_helper.exs", "apps/web/test/support/case.ex"),
        files("mix.exs", "apps/web/lib/test/page.ex", "apps/web/lib/web.ex"),
        files("apps/db/test/repo_test.exs"),
    ),
    "dart": Case(
        files("test/a_test.dart", "test/helper.dart", "packages/b/test/b_test.dart"),
        files("pubspec.yaml", "lib/a.dart", "lib/src/contest.dart"),
    ),
    "perl": Case(files("t/00-load.t", "t/lib/Help.pm", "xt/pod.t", "t/data.txt"), files("Makefile.PL", "lib/A.pm")),
    "a folder t": Case({}, files("t/de.po", "t/fr.json", "app.py", "src/t/translate.ts")),
    "bats": Case(files("test/run.bats", "test/test_helper.bash"), files("bin/run.sh")),
    "shell": Case(files("tests/run.sh", "tests/test_begin.sh"), files("check.sh", "run.sh")),
    "php": Case(
        files("tests/Unit/CartTest.php", "tests/TestCase.php", "tests/Feature/a.php"),
        files("composer.json", "src/Cart.php", "src/Contest.php", "src/Testing/Fake.php"),
    ),
    "go": Case(
        files("a/b_test.go", "a/testdata/x.golden"), files("go.mod", "a/b.go", "internal/testing/fake.go", "test/lib.go")
    ),
    "rust": Case(
        {"tests/cli.rs": "#[test]\nfn a() {}", "tests/common/mod.rs": "", "crates/a/src/tests.rs": "#[test]\nfn b() {}",
         "crates/a/src/snapshots/a.snap": ""},
        {"Cargo.toml": "", "src/lib.rs": "#[cfg(test)]\nmod tests {}", "crates/a/src/test.rs": "pub fn probe() {}"},
        {"crates/b/tests/new.rs": "#[test]\nfn c() {}"},
    ),
    "cmake": Case(
        {"tests/CMakeLists.txt": "add_test(NAME a COMMAND a)", "tests/calc.cpp": "", "src/pool_test.cc": ""},
        files("CMakeLists.txt", "src/pool.cc", "src/test/harness.c", "src/latest.c"),
    ),
    "a library in C, tested by a program at the top": Case(
        {"test.c": '#include "shop.h"\n\nint CDECL main(void)\n{\n    return price(100) != 90;\n}\n',
         "test_price.c": "int main (int argc, char **argv) {\n    return 0;\n}\n",
         "src/basket_test.c": "#include <stdio.h>\nint main(void) { return 0; }\n"},
        {"src/basket.c": "", "shop.c": "int main(void) { return 0; }\n", "shop.h": "", "contest.c": "int main(void) {}\n",
         "src/test.c": "#include <assert.h>\nint main(void) { return 0; }\n", "src/speed_test.c": "int main(void) {}\n",
         "tests.c": "static int domain(void) { return 0; }\n", "Makefile": ""},
        {"test_more.c": "int main(void) { return 1; }\n"},
    ),
    "the commands of a shell": Case(
        {}, dict.fromkeys(("test.c", "true.c", "cat.c"), "int main(int argc, char *argv[])\n{\n    return 0;\n}\n")
    ),
    "swift": Case(files("Tests/AppTests/AppTests.swift", "Tests/AppTests/Help.swift"), files("Package.swift", "Sources/A.swift")),
    "cucumber": Case(
        files("features/login.feature", "features/steps/login.py", "features/environment.py"), files("app/login.py")
    ),
    "deno": Case(files("calc_test.ts"), files("deno.json", "calc.ts", "contest.ts")),
}  # fmt: skip


def known(texts: dict[str, str]) -> frozenset[tuple[str, str]]:
    return frozenset((path, texts[path]) for path in unclear(frozenset(texts)))


@pytest.mark.parametrize("name", CASES)
def test_a_layout(name: str) -> None:
    case = CASES[name]
    before = {**case.tests, **case.product}
    tests = layout(frozenset(before), known(before))
    assert [path for path in case.tests if not matches(path, tests.tests)] == [], tests.tests
    assert [path for path in case.product if matches(path, tests.tests)] == [], tests.tests
    after = {**before, **case.added}
    may = writers(tests, layout(frozenset(after), known(after)), before)
    assert [path for path in (*case.tests, *case.added) if not matches(path, may)] == [], may
    assert [path for path in case.product if matches(path, may)] == [], may


# The plain texts of the same rules, each of which compares every pair.
def slow_matches(path: str, patterns: tuple[str, ...]) -> bool:
    return any(globs._covers(globs.segments(one), 0, path.split("/"), 0) for one in patterns)


def slow_is_collected(folder: str, paths: frozenset[str], names: tuple[str, ...]) -> bool:
    start = len(folder) + 1
    inside = [
        path
        for path in paths
        if path.startswith(f"{folder}/")
        and not any(
            tests_of.CERTAIN.fullmatch(part) or tests_of.LIKELY.fullmatch(part) for part in path[start:].split("/")[:-1]
        )
    ]
    own = tests_of._evidence(tests_of._Folder(folder, inside, []), inside)
    stems = {path.rpartition(".")[0] for path in own}
    named = [path.rpartition(".")[0].rpartition("/") for path in own if slow_matches(path, names)]
    subject = tests_of.subject
    alone = [stem for above, _, stem in named if subject(stem) == stem or f"{above}/{subject(stem)}" not in stems]
    return len(alone) * 2 > len(own)


def slow_small(found: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    kept: list[str] = []
    for glob in sorted(found, key=lambda one: (one.count("/"), one)):
        path = glob.strip("/").removesuffix("/**")
        if not slow_matches(path, names) and not slow_matches(path, tuple(kept)):
            kept.append(glob)
    return tuple(kept)


def slow_layout(paths: frozenset[str], texts: frozenset[tuple[str, str]]) -> Layout:
    plain = layout(paths, texts)
    read = dict(texts)
    found = [path for path in sorted(read) if path in paths and tests_of._is_test_file(path, read, paths)]
    found += tests_of._projects(paths, read)
    configured = tests_of._configured(read)[0]
    found += [f"{folder}/**" for folder in configured if slow_is_collected(folder, paths, plain.names)]
    accepted: list[str] = []
    for folder in tests_of._folders(paths):
        is_inner = any(folder.path.startswith(f"{outer}/") for outer in accepted)
        if not is_inner and tests_of._holds_tests(folder, read):
            accepted.append(folder.path)
    beside = tests_of._beside(paths, (*plain.names, *tests_of._anchored(found)))
    found += [f"{path}/**" for path in (*beside, *accepted)]
    return Layout(plain.names, slow_small(tests_of._anchored(found), plain.names), plain.fresh)


def slow_writers(before: Layout, after: Layout, paths: frozenset[str]) -> tuple[str, ...]:
    new = [glob for glob in after.found if glob not in before.found]
    code = [path for path in paths if not slow_matches(path, before.tests)] if new else []
    taken = [glob for glob in new if any(slow_matches(path, (glob,)) for path in code)]
    own = (*before.tests, *before.fresh)
    return tuple(dict.fromkeys((*own, *after.names, *(glob for glob in new if glob not in taken))))


FOLDERS = st.sampled_from(
    ["tests", "test", "src", "main", "a", "b", "a.tests", "*", "a*", "?", "t", "features", "fixtures", "data", "**"]
)
FILES = st.sampled_from(
    ["test_a.py", "a.py", "a_test.go", "a.go", "conftest.py", "tests.py", "b.test.js", "a.js", "x.feature", "A.csproj",
     "A.Tests.csproj", "1.t", "CMakeLists.txt", "test.c", "a.json", "*", "a"]
)  # fmt: skip
PATHS = st.builds(lambda outer, name: "/".join([*outer, name]), st.lists(FOLDERS, max_size=4), FILES)
TREES = st.frozensets(PATHS, max_size=25)
WORDS = st.lists(st.lists(FOLDERS, min_size=1, max_size=3).map("/".join), max_size=4)


@given(PATHS, st.lists(PATHS | PATHS.map("/{}".format) | PATHS.map("{}/**".format) | PATHS.map("**/{}".format)))
def test_globs_cover_what_each_of_them_covers(path: str, patterns: list[str]) -> None:
    assert matches(path, patterns) == slow_matches(path, tuple(patterns))
    assert globs.matching([path], patterns) == [path] * slow_matches(path, tuple(patterns))


@given(TREES, TREES, WORDS, st.sampled_from(["", UNITTEST]))
def test_a_layout_is_what_comparing_every_pair_gives(
    before: frozenset[str], added: frozenset[str], words: list[str], text: str
) -> None:
    def texts_of(paths: frozenset[str]) -> frozenset[tuple[str, str]]:
        settings = f"[tool.pytest.ini_options]\ntestpaths = {words}\n"
        return frozenset((path, settings if path == "pyproject.toml" else text) for path in unclear(paths))

    before = before | {"pyproject.toml"}
    after = before | added
    old, new = layout(before, texts_of(before)), layout(after, texts_of(after))
    assert (old, new) == (slow_layout(before, texts_of(before)), slow_layout(after, texts_of(after)))
    assert writers(old, new, before) == slow_writers(old, new, before)
    assert writers(new, old, after) == slow_writers(new, old, after)


@pytest.mark.parametrize(
    "place", ["p{}/tests/test_a.py", "packages/p{}/tests/test_a.py", "p{}/P{}.Tests.csproj", "given/f{}/test_a.py"]
)
def test_many_folders_of_tests_take_no_more_work_each(place: str) -> None:
    def work(count: int) -> None:
        before = frozenset(("pyproject.toml", *(f"src/m{number}.py" for number in range(count))))
        after = before | {place.format(number, number) for number in range(count)}
        words = "".join(f" given/f{number}" for number in range(count))
        texts = frozenset({("pyproject.toml", f"testpaths ={words}\n")})
        layout.cache_clear()
        writers(layout(before, texts), layout(after, texts), before)

    few, many = (calls(lambda count=count: work(count)) for count in (100, 400))
    assert many < 5 * few, f"{few} calls for 100 folders, {many} for 400"
