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
	// What import makes of it is what the bundler's own helper would make.
	add = func(name, body, expect string) {
		files[name+".mjs"] = "import * as all from 'node:fs'; import fs, { readFileSync, none } from 'fs'; import * as promises from 'fs/promises'; import util from 'util';\n" +
			"const tried = (f) => { try { return f(); } catch (e) { return e.name + ' ' + e.message; } };\nexport default () => {\n" + body + "\n};"
		want[name] = expect
	}
	add("written", "const ns = all, below = Object.create(all); return [tried(() => { ns.readFile = 1; }), tried(() => { ns.default = 1; }), tried(() => { below.stat = 1; }), Reflect.set(all, 'open', 1), tried(() => { ns.more = 1; return Object.keys(ns).at(-1); })].join()",
		"TypeError Cannot assign to read only property 'readFile',TypeError Cannot assign to read only property 'default',TypeError Cannot assign to read only property 'stat',false,more")
	add("removed", "const ns = all; return [tried(() => delete ns.rm), Reflect.deleteProperty(promises, 'open'), delete ns.none, 'rm' in all, 'open' in promises].join()",
		"TypeError Cannot delete property 'rm' of [object Object],false,true,true,true")
	add("shaped", `const shape = (o) => new Set(Object.entries(Object.getOwnPropertyDescriptors(o)).map(([name, d]) => [name === 'default' && name, typeof d.value, typeof d.get, typeof d.set, d.writable, d.enumerable, d.configurable, d.get?.name, d.get?.length].join()));
		return [...shape(all), ...shape(promises), tried(() => Object.defineProperty(all, 'stat', { value: 1 }))].join(' ')`,
		"default,object,undefined,undefined,false,true,false,, false,undefined,function,undefined,,true,false,get,0 default,object,undefined,undefined,false,true,false,, false,undefined,function,undefined,,true,false,get,0 TypeError Cannot redefine property: stat")
	add("followed", "fs.more = 1; delete fs.cp; Object.defineProperty(fs, 'statSync', { enumerable: false }); fs.openSync = 5; return [all.more, 'more' in all, all.cp, 'cp' in all, Object.keys(all).includes('statSync'), all.openSync, Object.keys(all).length, none, readFileSync === fs.readFileSync].join()",
		",false,,true,true,5,104,,true")
	add("sealedImport", "Object.freeze(all); return [Object.isFrozen(all), all.readFileSync === fs.readFileSync, all.default === fs, util.types.isProxy(all), Object.getPrototypeOf(all) === Object.prototype, Object.assign({}, promises).readFile === fs.promises.readFile].join()",
		"true,true,true,false,true,true")
	files["late.cjs"] = "const fs = require('fs'); fs.more = 1; delete fs.rm; module.exports = async () => { const all = await import('fs'); return [all.more, 'rm' in all, all.default === fs].join(); };"
	want["late"] = "1,false,true"
	p := open(t, files, 10*time.Second)
	for name, want := range want {
		for range 2 { // the second call has an engine that was made ready
			if got := p.call(t, name, "{}"); strings.ReplaceAll(got, "\n", " ") != want {
				t.Errorf("%s:\n got %q\nwant %q", name, got, want)
			}
		}
	}
}

// TestBufferShape looks at what the class Buffer and its prototype have, in which order.
func TestBufferShape(t *testing.T) {
	p := open(t, map[string]string{"shape.cjs": `module.exports = () => {
	const flags = (o) => [...new Set(Reflect.ownKeys(o).map((key) => { const d = Object.getOwnPropertyDescriptor(o, key); return [d.get ? 'get' : typeof d.value, d.writable, d.enumerable, d.configurable].join(); }))].join(' ');
	const { prototype } = Buffer, names = Object.getOwnPropertyNames(prototype), aliases = names.filter((name) => name.includes('Uint'));
	class Own extends Buffer {}
	return [Reflect.ownKeys(Buffer).join(), flags(Buffer), names.length, names.slice(0, 5).join(), names.slice(-2).join(), flags(prototype), Object.getOwnPropertySymbols(prototype).map(String).join(),
		aliases.length, aliases.filter((name) => prototype[name] !== prototype[name.replace('Uint', 'UInt')]).join(), prototype.readUint8.name, prototype.writeBigUint64LE.length,
		Reflect.ownKeys(Buffer).filter((name) => typeof Buffer[name] === 'function' && Buffer[name].name !== name).join(), prototype.constructor === Buffer, Object.getPrototypeOf(Buffer) === Uint8Array, Buffer[Symbol.species] === Buffer,
		new Own(2).constructor.name, Own.from('a').constructor.name, Buffer(2).length, new Buffer('ab').length, Buffer.allocUnsafeSlow(3).length].join('\n');
};`}, 10*time.Second)
	const want = `length,name,prototype,from,alloc,allocUnsafe,allocUnsafeSlow,isBuffer,isEncoding,byteLength,compare,concat,copyBytesFrom,of,poolSize
number,false,false,true string,false,false,true object,false,false,false function,true,true,true number,true,true,true
81
constructor,parent,offset,toString,toLocaleString
writeBigUint64LE,writeBigUint64BE
function,true,false,true get,,false,true
Symbol(nodejs.util.inspect.custom)
18

readUInt8
2

true
true
true
Own
Buffer
2
2
3`
	if got := p.call(t, "shape", "{}"); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
