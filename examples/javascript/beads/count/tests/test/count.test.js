import assert from "node:assert/strict";
import { test } from "node:test";
import { count } from "../src/count.js";

test("counts words", () => assert.equal(count("one two\nthree"), 3));
test("an empty text has none", () => assert.equal(count("  "), 0));
