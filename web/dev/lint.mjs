// What must not be in the page's sources: ways to make HTML or code of text. Text goes in by Preact, which sets text nodes.

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FORBIDDEN = /innerHTML|outerHTML|insertAdjacentHTML|dangerouslySet|document\.write|\beval\(|new Function|srcdoc|javascript:/;
const root = fileURLToPath(new URL("../src/", import.meta.url));
const found = readdirSync(root, { recursive: true })
  .filter((file) => /\.tsx?$/.test(file))
  .flatMap((file) => readFileSync(root + file, "utf8").split("\n").map((line, n) => [file, n + 1, line]))
  .filter(([, , line]) => FORBIDDEN.test(line));
for (const [file, n, line] of found) console.error(`src/${file}:${n}: makes HTML or code of text: ${line.trim()}`);
process.exit(found.length > 0 ? 1 : 0);
