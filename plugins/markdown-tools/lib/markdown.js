// A small reader of Markdown: it finds headings, links and anchors, and knows where code
// and comments are, in which there are none. It goes line by line, so that its time grows
// with the length of the text whatever is in it.

// How many characters of a heading, or of a link's destination with its title, are read.
const LONGEST = 2000;

/** Reads a Markdown text: {headings: [{level, text, line, anchor}], links: [{target, line}], anchors: Set}. */
export function parse(text) {
  const headings = [];
  const links = [];
  const anchors = new Set();
  const slugs = new Map();
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/);

  const addHeading = (level, raw, line) => {
    const title = plain(raw);
    const anchor = unique(slug(title), slugs);
    anchors.add(anchor);
    headings.push({ level, text: title, line, anchor });
  };

  let fence = null; // the marker that closes the code block we are in
  let comment = false;
  let paragraph = ''; // the line before, where it may turn out to be a heading
  for (let i = frontMatter(lines); i < lines.length; i++) {
    const number = i + 1;
    if (fence !== null) {
      if (closes(lines[i], fence)) fence = null;
      continue;
    }
    // What looks like a comment in a code span is none; what is in a comment is no code.
    const bare = comment ? lines[i] : withoutCode(lines[i]);
    let code = bare;
    if (comment || bare.includes('<!--')) [code, comment] = withoutComments(bare, comment);
    const line = code === bare ? lines[i] : code;
    // Most lines are plain text: their first character rules out most of the expressions.
    const first = line.trimStart()[0] ?? '';
    const opening = first === '`' || first === '~' ? /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) : null;
    if (opening !== null && !(first === '`' && opening[2].includes('`'))) {
      fence = opening[1];
      paragraph = '';
      continue;
    }
    if (paragraph === '' && /^( {4}|\t)/.test(line)) continue; // an indented code block

    const atx = first === '#' ? /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/.exec(line) : null;
    const underline = paragraph !== '' && (first === '=' || first === '-') && /^ {0,3}(=+|-+)[ \t]*$/.test(line);
    if (atx !== null) {
      addHeading(atx[1].length, (atx[2] ?? '').replace(/(^|[ \t]+)#+[ \t]*$/, ''), number);
      paragraph = '';
    } else if (underline) {
      addHeading(first === '=' ? 1 : 2, paragraph, number - 1);
      paragraph = '';
    } else {
      paragraph = '-*+>|0123456789'.includes(first) && /^ {0,3}([-*+>|]|\d{1,9}[.)])([ \t]|$)/.test(line) ? '' : line.trim();
    }
    for (const target of targets(code)) links.push({ target, line: number });
    if (!code.includes('<')) continue;
    for (const m of code.matchAll(/<[a-zA-Z][^<>]*?\s(?:id|name)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)) anchors.add(m[1] ?? m[2]);
  }
  return { headings, links, anchors };
}

/** The number of lines of the front matter between two lines of three dashes. */
function frontMatter(lines) {
  if (lines[0] !== '---') return 0;
  const end = lines.findIndex((l, i) => i > 0 && (l === '---' || l === '...'));
  return end < 0 ? 0 : end + 1;
}

function closes(line, fence) {
  const t = line.trim();
  return t.length >= fence.length && t === fence[0].repeat(t.length);
}

/** Takes HTML comments out of a line; inside says whether it begins, and then ends, within one. */
function withoutComments(line, inside) {
  const out = [];
  for (let at = 0; ; ) {
    if (inside) {
      const end = line.indexOf('-->', at);
      if (end < 0) return [out.join(''), true];
      at = end + 3;
      inside = false;
    }
    const start = line.indexOf('<!--', at);
    out.push(line.slice(at, start < 0 ? undefined : start));
    if (start < 0) return [out.join(''), false];
    at = start + 4;
    inside = true;
  }
}

/** Blanks the code spans of a line. */
function withoutCode(line) {
  if (!line.includes('`')) return line;
  const parts = line.split(/(`+)/); // text and runs of backticks in turn
  const last = new Map(); // where a run of each length stands last
  for (let i = 1; i < parts.length; i += 2) last.set(parts[i].length, i);
  const out = [];
  for (let i = 0; i < parts.length; i++) {
    if (i % 2 === 1 && last.get(parts[i].length) > i) {
      const marker = parts[i];
      do i += 2; while (parts[i] !== marker);
      out.push(' ');
    } else {
      out.push(parts[i]);
    }
  }
  return out.join('');
}

/** The targets of the links, images and link definitions of a line. */
function targets(line) {
  const found = [];
  if (!line.includes('](') && !line.includes(']:') && !line.includes('<')) return found;
  const definition = line.includes(']:') ? /^ {0,3}\[[^\]^][^\]]*\]:[ \t]*(?:<([^<>]*)>|(\S+))/.exec(line) : null;
  if (definition !== null) found.push(definition[1] ?? definition[2]);
  const end = line.lastIndexOf(')');
  for (let at = line.indexOf(']('); at >= 0 && at < end; at = line.indexOf('](', at + 2)) {
    const target = destination(line, at + 2);
    if (target !== null) found.push(target);
  }
  if (line.includes('<')) for (const m of line.matchAll(/<(?:a|img)\s[^<>]*?(?:href|src)\s*=\s*(?:"([^"]*)"|'([^']*)')/gi)) found.push(m[1] ?? m[2]);
  return found.map(unescape);
}

// A destination in angle brackets, or one with balanced parentheses (one level of them),
// then perhaps a title, then the closing parenthesis.
const DESTINATION = /^[ \t]*(?:<([^<>]*)>|((?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.)*\))*))(?:[ \t]+(?:"[^"]*"|'[^']*'|\([^()]*\)))?[ \t]*\)/;
/** The destination of the inline link that starts at an index; null where there is none. */
function destination(line, at) {
  const found = DESTINATION.exec(line.slice(at, at + LONGEST));
  return found === null ? null : (found[1] ?? found[2]);
}

/** The text of a heading without its Markdown. */
function plain(raw) {
  raw = raw.slice(0, LONGEST);
  if (!/[[<`*\\]/.test(raw)) return raw.trim();
  return unescape(raw
    .replace(/!?\[([^\]]*)\]\([^()]*\)/g, '$1')
    .replace(/!?\[([^\]]*)\]\[[^\]]*\]/g, '$1')
    .replace(/<\/?[a-zA-Z][^<>]*>/g, '')
    .replace(/`+/g, '')
    .replace(/\*+/g, ''))
    .trim();
}

/** Takes the backslashes away that stand before punctuation. */
function unescape(text) {
  return text.includes('\\') ? text.replace(/\\([!-/:-@[-`{-~])/g, '$1') : text;
}

// What GitHub leaves out of an anchor: punctuation, symbols and emoji of all scripts.
const DROPPED = /[\u0000-\u001f!-,./:-@[-^`{-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7\u2000-\u206f\u20a0-\u2bff\u2e00-\u2e7f\u3001-\u3004\u3008-\u3020\u3030\ud800-\udfff\ufe00-\ufe6f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]/g;

/** The anchor of a heading, as GitHub makes it. */
export function slug(title) {
  const lower = title.toLowerCase();
  const kept = /^[a-z0-9 _-]*$/.test(lower) ? lower : lower.replace(DROPPED, '');
  return kept.replace(/[ \u3000]/g, '-');
}

function unique(anchor, seen) {
  let n = seen.get(anchor);
  if (n === undefined) {
    seen.set(anchor, 0);
    return anchor;
  }
  do n++; while (seen.has(`${anchor}-${n}`));
  seen.set(anchor, n);
  seen.set(`${anchor}-${n}`, 0);
  return `${anchor}-${n}`;
}
