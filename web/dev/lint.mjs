// What must not be in the page's sources: ways to make HTML or code of text, which goes in by Preact, which sets text nodes; and
// components that are made within another one, since each time that is drawn they are new ones, whose inputs are empty.

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const RULES = [
  [/innerHTML|outerHTML|insertAdjacentHTML|dangerouslySet|document\.write|\beval\(|new Function|srcdoc|javascript:/, "makes HTML or code of text"],
  [/^\s+(?:function [A-Z]\w*\(|const [A-Z]\w*[a-z]\w* = (?:\(|function))/, "makes a component within another one"],
];
const root = fileURLToPath(new URL("../src/", import.meta.url));
const found = readdirSync(root, { recursive: true })
  .filter((file) => /\.tsx?$/.test(file))
  .flatMap((file) => readFileSync(root + file, "utf8").split("\n").map((line, n) => [file, n + 1, line]))
  .flatMap(([file, n, line]) => RULES.filter(([rule]) => rule.test(line)).map(([, what]) => [file, n, line, what]));
for (const [file, n, line, what] of found) console.error(`src/${file}:${n}: ${what}: ${line.trim()}`);
process.exit(found.length > 0 ? 1 : 0);
