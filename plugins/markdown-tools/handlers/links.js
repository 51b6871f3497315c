import path from 'node:path';

import { parse } from '../lib/markdown.js';
import { readText } from '../lib/read.js';

export default async function links({ path: file, root = '.' }, ctx) {
  const page = parse(await readText(file, ctx));
  const checker = new Checker(file, path.resolve(ctx.folder, root), page, ctx);
  const broken = [];
  let web = 0;
  for (const [i, { target, line }] of page.links.entries()) {
    if (ctx.signal?.aborted) throw new Error('the call was cancelled');
    if (i > 0 && i % 200 === 0) ctx.progress(`${i} of ${page.links.length} links`);
    if (/^([a-zA-Z][a-zA-Z0-9+.-]*:|\/\/)/.test(target)) {
      web++;
      continue;
    }
    const why = await checker.check(target);
    if (why !== null) broken.push(`line ${line}: ${target} (${why})`);
  }
  const checked = page.links.length - web;
  const head = broken.length === 0
    ? `no broken links in ${file}`
    : `${count(broken.length, 'broken link')} in ${file}`;
  return [`${head}: ${count(checked, 'relative link')} checked, ${count(web, 'web link')} not visited`, ...broken].join('\n');
}

/** Checks the targets of one page; it looks at each file once. */
class Checker {
  constructor(file, root, page, ctx) {
    this.dir = path.dirname(path.resolve(ctx.folder, file));
    this.root = root;
    this.page = page;
    this.ctx = ctx;
    this.known = new Map();
  }

  /** Gives why a target leads nowhere, or null. */
  async check(target) {
    const hash = target.indexOf('#');
    const fragment = hash < 0 ? '' : decode(target.slice(hash + 1));
    const name = decode((hash < 0 ? target : target.slice(0, hash)).replace(/\?.*$/, ''));
    if (name === '') {
      return fragment === '' || hasAnchor(this.page, fragment) ? null : 'no such heading here';
    }
    const full = name.startsWith('/') ? path.join(this.root, name) : path.join(this.dir, name);
    const below = path.relative(this.root, full);
    if (below === '..' || below.startsWith('../') || path.isAbsolute(below)) return 'leads out of the root folder';

    if (!this.known.has(full)) this.known.set(full, await this.look(full));
    const found = this.known.get(full);
    if (typeof found === 'string') return found;
    if (fragment !== '' && found.page !== null && !hasAnchor(found.page, fragment)) return 'no such heading there';
    return null;
  }

  /** Gives {page} of what stands at a path (page is null where it has no headings), or why there is nothing. */
  async look(full) {
    let info;
    try {
      info = await this.ctx.fs.stat(full);
    } catch (err) {
      return err.code === 'ENOENT' || err.code === 'ENOTDIR' ? 'no such file' : `not readable: ${err.code ?? err.message}`;
    }
    if (info.isDirectory() || !/\.(md|markdown)$/i.test(full)) return { page: null };
    try {
      return { page: parse(await readText(full, this.ctx)) };
    } catch {
      return { page: null }; // the file is there; what is in it was not asked
    }
  }
}

function hasAnchor(page, fragment) {
  return page.anchors.has(fragment) || page.anchors.has(fragment.toLowerCase()) || fragment.toLowerCase() === 'top';
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a lone % is meant itself
  }
}

function count(n, unit) {
  return `${n} ${unit}${n === 1 ? '' : 's'}`;
}
