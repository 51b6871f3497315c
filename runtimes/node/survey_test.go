package node_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/runtimes/node"
)

// TestSurvey: the uses that comments after "use:" name are found on their lines, and no others.
func TestSurvey(t *testing.T) {
	files := map[string]string{
		"module.ts": `import fs, { writeFileSync, readFileSync } from "node:fs";
import * as net from "net";
import cp from "node:child_process"; // use: module child_process
import { open } from "./lib/helper";
import { go } from "pack";
type Ctx = { fetch: unknown; store: any };
export default async function handler(params: any, ctx: any) {
  // ctx.settings, fetch("https://comment.example") and process.env.COMMENT
  const text = "ctx.ai and process.env.TEXT";
  writeFileSync("x", readFileSync("y")); // use: fs.write
  fs.promises.writeFile("a", text); // use: fs.write
  const { fetch: request, toast } = ctx; // use: fetch, toast
  await ctx.store?.get("a"); // use: store
  await ctx.fs.read("a");
  await ctx.fs.write("a", "b"); // use: fs.write
  const home = process.env.HOME + process.env["PATH"]; // use: env HOME
  if (process.env.NODE_ENV !== "production") throw 0;
  net.connect(1); net.isIP("1"); // use: net
  await fetch("https://api.example.org/v1"); // use: fetch api.example.org
  await fetch(` + "`https://${params.host}/x`" + `); // use: fetch
  await request("https://a.example");
  return [open(ctx), go(ctx), cp, home, (await import("node:fs/promises")).unlink("x"), toast]; // use: fs.write
}
`,
		"common.cjs": `const fs = require("fs"), { rm, readFile } = require("fs/promises"); // use: fs.write
const https = require("node:https");
function fetch(url) { return url; }
const other = (first, options) => options.settings ?? options.fetch;
module.exports = async ({ text }, { settings, ai: { complete } }) => { // use: settings, ai
  const { USER, ...rest } = process.env; // use: env USER
  https.get("https://x.example"); // use: fetch
  fs.createWriteStream("x"); // use: fs.write
  const tree = { fs: { writeFile() {} } };
  tree.fs.writeFile();
  return [fetch(text), rm, readFile, settings, complete, other, USER, rest];
};
`,
		"lib/helper.ts": `export const open = (ctx: any) => ctx.execute("x"); // use: execute
`,
		"node_modules/pack/index.js":     `exports.go = (ctx) => { ctx.store; require("fs").writeFileSync("x", process.env.PACK); return fetch("x"); };`,
		"node_modules/pack/package.json": `{"name":"pack"}`,
	}
	var want []string
	for name, text := range files {
		for i, line := range strings.Split(text, "\n") {
			if _, uses, ok := strings.Cut(line, "// use: "); ok {
				for use := range strings.SplitSeq(uses, ", ") {
					want = append(want, fmt.Sprintf("%s:%d %s", name, i+1, use))
				}
			}
		}
	}
	spec, _ := write(t, files)
	found, err := node.New(nil).Survey(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, u := range found.Uses {
		if u.Column < 1 || u.Text == "" || u.Kind == "module" && !strings.Contains(u.Hint, "handlers start no programs") {
			t.Errorf("%+v", u)
		}
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s:%d %s %s", u.File, u.Line, u.Kind, u.Name)))
	}
	slices.Sort(want)
	slices.Sort(got)
	if a, b := strings.Join(slices.Compact(got), "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("got\n%s\nwant\n%s", a, b)
	}
	if !strings.Contains(found.Code, "process.env.PACK") || strings.Contains(found.Code, "__toESM = (") {
		t.Error("the code is not that of all modules, and of nothing else")
	}
}
