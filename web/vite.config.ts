// One HTML file: script and style stand in it, and its Content-Security-Policy names them by their hashes, so nothing else
// can run in it. `connect-src 'none'` is right for a file; the server sends a policy of its own and takes this one out.
import { createHash } from "node:crypto";
import type { Plugin } from "vite";
import { defineConfig } from "vite";

const sha256 = (text: string) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

/** Puts the bundle into the page and removes its files. */
function oneFile(): Plugin {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      let script = "";
      let style = "";
      let page: { source: string | Uint8Array } | undefined;
      for (const [name, part] of Object.entries(bundle)) {
        if (part.type === "chunk") script += part.code;
        else if (name.endsWith(".css")) style += String(part.source);
        else if (name.endsWith(".html")) page = part;
        if (!name.endsWith(".html")) delete bundle[name];
      }
      if (!page) throw new Error("no page was built");
      // A script cannot hold its own end tag.
      script = script.trim().replaceAll("</script", "<\\/script");
      style = style.trim();
      const policy = [
        "default-src 'none'",
        `script-src ${sha256(script)}`,
        `style-src ${sha256(style)}`,
        "img-src data: blob:",
        "connect-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
      ].join("; ");
      page.source = String(page.source)
        .replace(/<script type="module"[^>]*><\/script>\s*/g, "")
        .replace(/<link rel="(stylesheet|modulepreload)"[^>]*>\s*/g, "")
        .replace("<!--policy-->", () => `<meta http-equiv="Content-Security-Policy" content="${policy}">`)
        .replace("<!--style-->", () => `<style>${style}</style>`)
        .replace("<!--script-->", () => `<script type="module">${script}</script>`);
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [oneFile()],
  build: {
    target: "es2022",
    assetsInlineLimit: 1_000_000,
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
  },
});
