import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

test("the package has a name", () => {
  assert.equal(JSON.parse(readFileSync("package.json", "utf8")).name, "words");
});
