import assert from "node:assert/strict";
import { test } from "node:test";
import { slug } from "../src/slug.js";

test("joins words by one hyphen", () => assert.equal(slug("  Hello,  big World! "), "hello-big-world"));
test("keeps digits", () => assert.equal(slug("Top 10"), "top-10"));
test("nothing stays nothing", () => assert.equal(slug("!?"), ""));
