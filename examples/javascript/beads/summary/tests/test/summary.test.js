import assert from "node:assert/strict";
import { test } from "node:test";
import { summary } from "../src/summary.js";

test("tells slug and number", () => assert.equal(summary("Tea Time", "two words"), "tea-time: 2 words"));
test("one word is singular", () => assert.equal(summary("Tea", "tea"), "tea: 1 word"));
