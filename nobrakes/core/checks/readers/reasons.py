"""Why tests failed, read from what the command printed: the second half of a red proof.

1. SYNTAX dominates: a test file that does not parse proves nothing, whatever else failed beside it.
2. It means the loading of a file. A SyntaxError raised inside of a test that ran, or by JSON.parse, is that
   test's business. JavaScript's "does not provide an export" is a SyntaxError in name only.
3. MISSING_SYMBOL: a name, module, field or signature that the tests use is not there (yet). It goes before
   ASSERTION, because it may have kept other tests from being collected.

Sources: CPython's exceptions, V8's and node's messages, TypeScript's diagnosticMessages.json (TS1xxx is
syntax), `go help build` and go/types' messages, rustc's error index, gcc, clang, javac, PHP, Ruby,
Perl (perldiag), C# (CS…), Kotlin, Scala, Swift, Dart and Elixir as they speak.
"""

import re
from collections.abc import Sequence
from enum import StrEnum


class Reason(StrEnum):
    """The kind of failure that an output shows."""

    ASSERTION = "assertion"
    MISSING_SYMBOL = "missing_symbol"
    SYNTAX = "syntax"
    UNKNOWN = "unknown"


_LOADING = re.compile(
    r"(?:# |E +|Exception during run: )?(?:SyntaxError|IndentationError|TabError): "
    r"|error: (?:expected |unexpected |mismatched closing |unknown start of token|unterminated )"
    r"|error: this file contains an un|syntax error, unexpected|syntax error at \S+ line [0-9]+, near"
)
"""What a line of its own says of a file that does not parse: only matched at the line's start."""

_SYNTAX = re.compile(
    r"Parse error: +syntax error|: syntax error[:,]? (?:near|unexpected)|error TS1[0-9]{3}: "
    r"|\.go:[0-9]+:[0-9]+: (?:syntax error|expected |missing ',' |string literal not|rune literal not)"
    r"|\.(?:c|cc|cpp|cxx|h|hpp|java|swift|kt):[0-9:]+ error: "
    r"(?:expected |unexpected |unterminated |unclosed |missing |illegal start |reached end of file|[^ ]{1,9} expected)"
    r"|Failed to parse source for import analysis|Transform failed with [0-9]+ error|\[PARSE_ERROR\]"
    r"|RollupError: Parse failure|Jest encountered an unexpected token"
)
_EXPORT = re.compile(
    r"The requested module .{1,300} (?:does not provide an export|is a CommonJS module)|Named export '"
)

_RUST_MISSING = (
    "0061|0107|0277|0369|0405|0407|0412|0422|0423|0424|0425|0426|0432|0433|0437|0438|0463|0559|0560|0574|0576|0583|"
    "0599|0603|0609|0616|0624"
)
_MISSING = re.compile(
    r"\b(?:ImportError|ModuleNotFoundError|NameError|AttributeError|NoMethodError|LoadError|ReferenceError)\b"
    r"|ERR_MODULE_NOT_FOUND|ERR_PACKAGE_PATH_NOT_EXPORTED"
    r"|\bis not (?:defined|a function|a constructor)\b"
    r"|[Cc]annot find (?:module|name|package|type|function|value|symbol|struct|trait|macro|crate)"
    r"|Failed to (?:resolve|load) (?:import|url)"
    r"|error TS(?:2304|2305|2307|2339|2551|2552|2554|2613|2614|2724): "
    r"|\bundefined: |undefined \(type |has no field or method|no required module provides|is not in (?:std|GOROOT)"
    r"|not enough arguments in call|too many arguments in call"
    r"|error\[E(?:" + _RUST_MISSING + r")\]|unresolved import"
    r"|was not declared in this scope|use of undeclared|undefined reference to|no member named"
    r"|fatal error: .{1,300}(?:No such file|not found)|error: package .{1,300} does not exist"
    r"|Call to undefined (?:function|method)|Class \".{1,300}\" not found|Undefined constant"
    r"|undefined (?:local variable or )?method|uninitialized constant"
    r"|Can't locate (?:\S+ in @INC|object method)|Undefined subroutine &"
    r"|error CS(?:0103|0117|0234|0246|1061|1501): |[Uu]nresolved reference|UndefinedFunctionError|undefined function "
    r"|[Cc]annot find '[^']{1,99}' in scope|not found: (?:value|type|object) |is not a member of "
    r"|isn't defined for the (?:class|type)|Error when reading '[^']{1,300}': No such file"
)
_ASSERTION = re.compile(
    r"Assertion(?:Failed)?Error|ERR_ASSERTION"
    r"|^E +assert |- assert |DID NOT RAISE|^E +Failed: "
    r"|assertion (?:`[^`]{1,99}` )?failed"
    r"|--- FAIL: |expect\(|Failed asserting that|Failure/Error: |^ *Failure:$|^FAIL: |^ *#   Failed test "
)

_PYTEST_SECTION = re.compile(r"=+ ([A-Za-z ]+) =+\Z")
_UNITTEST_BLOCK = re.compile(r"(?:ERROR|FAIL): ")


def find_reason(lines: Sequence[str]) -> Reason:
    """The reason that dominates in an output's plain lines."""
    found = Reason.UNKNOWN
    in_test = False  # inside of the report on a test that ran
    jest = False  # which indents what it reports
    for line in lines:
        section = _PYTEST_SECTION.match(line)
        if section is not None:
            in_test = section[1] in ("FAILURES", "PASSES")
            continue
        if _UNITTEST_BLOCK.match(line):
            in_test = "_FailedTest" not in line
        elif line.lstrip().startswith("● "):  # jest's headline for a test or a file
            in_test = not line.endswith("Test suite failed to run")
            jest = True
        if _EXPORT.search(line):
            found = Reason.MISSING_SYMBOL
        elif (
            not in_test
            and "JSON" not in line
            and (_LOADING.match(line.lstrip(" ") if jest else line) or _SYNTAX.search(line))
        ):
            return Reason.SYNTAX
        elif found is not Reason.MISSING_SYMBOL:
            if _MISSING.search(line):
                found = Reason.MISSING_SYMBOL
            elif _ASSERTION.search(line):
                found = Reason.ASSERTION
    return found
