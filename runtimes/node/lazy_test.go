package node_test

import (
	"strings"
	"testing"
	"time"
)

// TestLazyMembers looks at node:fs, whose members are made when they are touched: no code may
// tell it from an object that has them all.
func TestLazyMembers(t *testing.T) {
	files, want := map[string]string{}, map[string]string{}
	add := func(name, body, expect string) {
		files[name+".cjs"] = "const fs = require('fs'), assert = require('assert'), util = require('util');\nmodule.exports = async () => {\n" + body + "\n};"
		want[name] = expect
	}
	add("names", `const before = Object.keys(fs).join(); for (const name in fs) void fs[name];
		return [Object.keys(fs).join() === before, Reflect.ownKeys(fs).join() === before, before.split(',').length, before.slice(0, 31), Object.keys(fs).filter((n) => typeof fs[n] === 'function' && !/Stream$/.test(n) && fs[n].name !== n).join()].join(' ')`,
		"true true 103 readFile,readFileSync,writeFile ")
	add("kind", "return [typeof fs, String(fs), util.types.isProxy(fs), util.types.isProxy(fs.promises), Object.getPrototypeOf(fs) === Object.prototype, Object.isExtensible(fs), fs === require('node:fs'), fs.promises === require('fs/promises'), util.inspect(fs).split('\\n')[1], util.inspect(fs, { showProxy: true }).split('\\n')[0]].join(' ')",
		"object [object Object] false false true true true true   readFile: [Function: readFile], {")
	add("same", "const { readFile } = fs; return [readFile === fs.readFile, Object.getOwnPropertyDescriptor(fs, 'readFile').value === readFile, fs.Stats === fs.Stats, fs.constants === fs.promises.constants, fs.ReadStream === fs.FileReadStream].join()",
		"true,true,true,true,true")
	add("descriptor", "return JSON.stringify([Object.getOwnPropertyDescriptor(fs, 'F_OK'), Object.keys(Object.getOwnPropertyDescriptor(fs, 'ReadStream')), Object.getOwnPropertyDescriptor(fs, 'none') ?? null])",
		`[{"value":0,"writable":true,"enumerable":true,"configurable":true},["get","set","enumerable","configurable"],null]`)
	add("assigned", "fs.readFileSync = () => 'mine'; fs.more = 1; return [fs.readFileSync('x'), require('fs').readFileSync(), Object.keys(fs).indexOf('readFileSync'), Object.keys(fs).at(-1), fs.existsSync('/')].join()",
		"mine,mine,1,more,false")
	add("defined", "Object.defineProperty(fs, 'statSync', { enumerable: false }); Object.defineProperty(fs, 'lstatSync', { value: 5 }); Object.defineProperty(fs, 'rmSync', { writable: false, configurable: false }); Object.defineProperty(fs, 'self', { get() { return this; } });"+
		"let e; try { 'use strict'; Object.defineProperty(fs, 'rmSync', { value: 1 }); } catch (x) { e = x.name; } return [typeof fs.statSync, Object.keys(fs).includes('statSync'), fs.lstatSync, fs.rmSync.name, e, fs.self === fs].join()",
		"function,false,5,rmSync,TypeError,true")
	add("deleted", "delete fs.readFile; const gone = [fs.readFile, 'readFile' in fs, Object.hasOwn(fs, 'readFile')]; fs.readFile = 1; return [...gone, Object.keys(fs).at(-1), fs.readFile].join()",
		",false,false,readFile,1")
	add("frozen", "Object.freeze(fs); const kept = fs.readFileSync; fs.readFileSync = 1; return [Object.isFrozen(fs), kept === fs.readFileSync, fs.writeFileSync.name, typeof fs.ReadStream, typeof fs.Stats].join()",
		"true,true,writeFileSync,function,function")
	add("sealed", "Object.seal(fs); fs.readFileSync = 1; return [Object.isSealed(fs), fs.readFileSync, fs.writeFileSync.name, delete fs.rm].join()",
		"true,1,writeFileSync,false")
	add("symbols", "const key = Symbol('queue'); Object.defineProperty(fs, key, { get: () => 7 }); return [fs[key], key in fs, Object.getOwnPropertySymbols(fs).length].join()",
		"7,true,1")
	add("copied", "const copy = Object.create(Object.getPrototypeOf(fs)); for (const name of Object.getOwnPropertyNames(fs)) Object.defineProperty(copy, name, Object.getOwnPropertyDescriptor(fs, name)); const below = Object.create(fs); below.own = 1;"+
		"return [copy.readFile === fs.readFile, { ...fs }.writeFile === fs.writeFile, Object.assign({}, fs).F_OK, below.openSync === fs.openSync, 'own' in fs, Object.entries(fs).length].join()",
		"true,true,0,true,false,103")
	files["esm.mjs"] = `import * as all from 'node:fs'; import fs, { readFileSync, existsSync } from 'fs'; import * as promises from 'fs/promises'; import util from 'util';
export default () => {
	fs.readFileSync = () => 'mine'; delete fs.rm;
	const { get, ...shown } = Object.getOwnPropertyDescriptor(all, 'writeFile'), copy = { ...all };
	return [readFileSync(), existsSync('none'), all.readFileSync === fs.readFileSync, all.default === fs, Object.keys(all).slice(0, 2), Object.keys(all).length, get.name, JSON.stringify(shown), copy.stat === fs.stat, all.rm, 'rm' in all, 'none' in all,
		util.types.isProxy(all), Object.keys(promises).at(-1), promises.default.readFile === promises.readFile, promises.readFile === fs.promises.readFile].join(' ');
};`
	want["esm"] = `mine false true true default,readFile 104 get {"enumerable":true,"configurable":false} true  true false false writeFile true true`
	p := open(t, files, 10*time.Second)
	for name, want := range want {
		for range 2 { // the second call has an engine that was made ready
			if got := p.call(t, name, "{}"); strings.ReplaceAll(got, "\n", " ") != want {
				t.Errorf("%s:\n got %q\nwant %q", name, got, want)
			}
		}
	}
}
