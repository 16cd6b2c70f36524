// A report out of the built page and a run: what crates/report/src/page does, for pictures and tests without the binary.

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const PAGE = new URL("../dist/index.html", import.meta.url);

/** `block`: what stands in it, a run or a decision. */
export function report(run, block = "run") {
  const packed = gzipSync(JSON.stringify(run), { level: 9 }).toString("base64");
  return readFileSync(PAGE, "utf8").replace("<!--run-->", `<template id="${block}">${packed}</template>`);
}
