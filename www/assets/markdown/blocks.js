// The block structure of Markdown: CommonMark's blocks, GitHub's tables and tasks, and the admonitions of MkDocs.
// Every block knows its range in the source, in UTF-16 units, so that a passage can be pointed out.

/**
 * @typedef {{ text: string, at: number }} Line  without its line end; `at` is the place of its first character in the source
 *
 * @typedef {object} Block
 * @property {'heading' | 'paragraph' | 'code' | 'math' | 'quote' | 'list' | 'item' | 'table' | 'rule' | 'aside' | 'footnote'} type
 * @property {number} start
 * @property {number} end
 * @property {string} [text]       inline source, or the code itself
 * @property {number} [level]      of a heading
 * @property {string} [info]       language of code, label of a footnote, title of an aside
 * @property {boolean} [ordered]   of a list
 * @property {number} [first]      number that an ordered list begins with
 * @property {boolean} [loose]     of a list: items are paragraphs
 * @property {boolean} [checked]   of a task
 * @property {string[][]} [rows]   of a table, the head first
 * @property {string[]} [align]    of a table's columns
 * @property {Block[]} [children]
 */

/** Quotes and lists inside each other, at most: deeper ones stay text. */
const MAX_DEPTH = 16;

/** @param {string} source @returns {{ blocks: Block[], references: Map<string, string> }} */
export function parseBlocks(source) {
  const references = new Map();
  /** @type {Line[]} */
  const lines = [];
  for (let at = 0; at <= source.length;) {
    let end = source.indexOf('\n', at);
    if (end < 0) end = source.length;
    lines.push({ text: source.slice(at, end).replace(/\r$/, ''), at });
    at = end + 1;
  }
  return { blocks: parse(lines, references, 0), references };
}

const FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*([^`\n]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const BULLET = /^( {0,3})([-+*]|\d{1,9}[.)])([ \t]+|$)/;
const QUOTE = /^ {0,3}> ?/;
const ASIDE = /^(?:!!!|\?\?\?\+?|===)[ \t]+(?:([\w-]+)(?:[ \t]+[\w-]+)*)?[ \t]*(?:"([^"]*)")?[ \t]*$/;
const FOOTNOTE = /^ {0,3}\[\^([^\]\s]{1,80})\]:[ \t]*/;
const REFERENCE = /^ {0,3}\[([^\]^][^\]]{0,200})\]:[ \t]*<?([^\s>]+)>?(?:[ \t]+["'(].*["')])?[ \t]*$/;
const DELIMITERS = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

const blank = (line) => line.text.trim() === '';
const indent = (text) => /^[ ]*/.exec(text)?.[0].length ?? 0;
const end = (line) => line.at + line.text.length;
/** The line without its first `n` characters. @param {Line} line @param {number} n @returns {Line} */
const cut = (line, n) => ({ text: line.text.slice(n), at: line.at + Math.min(n, line.text.length) });

/** @param {Line[]} lines @param {Map<string, string>} references @param {number} depth @returns {Block[]} */
function parse(lines, references, depth) {
  /** @type {Block[]} */
  const out = [];
  const nested = depth < MAX_DEPTH;
  let i = 0;
  while (i < lines.length) {
    const line = lines[i];
    if (blank(line)) {
      i += 1;
      continue;
    }
    let match;
    if ((match = FENCE.exec(line.text))) i = fence(lines, i, match, out);
    else if (/^ {0,3}\$\$/.test(line.text)) i = math(lines, i, out);
    else if ((match = HEADING.exec(line.text))) {
      out.push({ type: 'heading', level: match[1].length, text: match[2] ?? '', start: line.at, end: end(line) });
      i += 1;
    } else if (RULE.test(line.text)) {
      out.push({ type: 'rule', start: line.at, end: end(line) });
      i += 1;
    } else if (nested && QUOTE.test(line.text)) i = quote(lines, i, references, depth, out);
    else if (nested && (match = BULLET.exec(line.text))) i = list(lines, i, match, references, depth, out);
    else if (nested && (match = ASIDE.exec(line.text)) && (match[1] || match[2] !== undefined)) i = aside(lines, i, match, references, depth, out);
    else if (nested && (match = FOOTNOTE.exec(line.text))) i = footnote(lines, i, match, references, depth, out);
    else if ((match = REFERENCE.exec(line.text))) {
      references.set(match[1].trim().toLowerCase(), match[2]);
      i += 1;
    } else if (indent(line.text) >= 4) i = indented(lines, i, out);
    else if (line.text.includes('|') && DELIMITERS.test(lines[i + 1]?.text ?? '') && lines[i + 1].text.includes('-')
      && cells(line.text).length === cells(lines[i + 1].text).length) i = table(lines, i, out);
    else i = paragraph(lines, i, out);
  }
  return out;
}

function fence(lines, i, match, out) {
  const [, mark, info] = match;
  const inset = indent(lines[i].text);
  const close = new RegExp(`^ {0,3}${mark[0]}{${mark.length},}[ \\t]*$`);
  let j = i + 1;
  while (j < lines.length && !close.test(lines[j].text)) j += 1;
  const body = lines.slice(i + 1, j).map(({ text }) => text.slice(Math.min(inset, indent(text))));
  const last = lines[Math.min(j, lines.length - 1)];
  out.push({ type: 'code', info: info.trim().replace(/^\{?\.?/, '').split(/[\s{},:]/)[0], text: body.join('\n'), start: lines[i].at, end: end(last) });
  return j + 1;
}

function math(lines, i, out) {
  let j = i;
  const first = lines[i].text.trim().slice(2);
  if (!first.trimEnd().endsWith('$$') || first.trim() === '$$') {
    if (first.includes('$$')) return paragraph(lines, i, out);
    j = i + 1;
    while (j < lines.length && !lines[j].text.includes('$$')) j += 1;
  }
  const last = lines[Math.min(j, lines.length - 1)];
  const body = lines.slice(i, j + 1).map(({ text }) => text).join('\n').trim();
  out.push({ type: 'math', text: body.replace(/^\$\$/, '').replace(/\$\$$/, '').trim(), start: lines[i].at, end: end(last) });
  return j + 1;
}

function quote(lines, i, references, depth, out) {
  const inner = [];
  let j = i;
  for (; j < lines.length && !blank(lines[j]); j += 1) {
    const match = QUOTE.exec(lines[j].text);
    if (!match && startsBlock(lines[j].text)) break;
    inner.push(match ? cut(lines[j], match[0].length) : lines[j]);
  }
  out.push({ type: 'quote', children: parse(inner, references, depth + 1), start: lines[i].at, end: end(lines[j - 1]) });
  return j;
}

function list(lines, i, opening, references, depth, out) {
  const ordered = /\d/.test(opening[2]);
  const sign = opening[2].at(-1);
  const items = [];
  let loose = false;
  let j = i;
  while (j < lines.length) {
    const match = BULLET.exec(lines[j].text);
    if (!match || /\d/.test(match[2]) !== ordered || match[2].at(-1) !== sign || RULE.test(lines[j].text)) break;
    const start = lines[j];
    // Content begins after the marker; code after a wide gap belongs to the code, not to the gap.
    const gap = match[3].length > 4 || match[3] === '' ? 1 : match[3].length;
    const width = match[1].length + match[2].length + gap;
    const body = [cut(start, width)];
    let k = j + 1;
    for (; k < lines.length; k += 1) {
      if (blank(lines[k])) {
        const next = lines.slice(k).find((line) => !blank(line));
        if (!next || indent(next.text) < Math.min(width, 2)) break;
        body.push(cut(lines[k], width));
      } else if (indent(lines[k].text) >= width) body.push(cut(lines[k], width));
      else if (indent(lines[k].text) >= 2 && (BULLET.test(lines[k].text.trimStart()) || blank(lines[k - 1]))) body.push(cut(lines[k], indent(lines[k].text)));
      else if (BULLET.test(lines[k].text) || startsBlock(lines[k].text) || blank(lines[k - 1])) break;
      else body.push(cut(lines[k], indent(lines[k].text)));
    }
    while (body.length > 1 && blank(body[body.length - 1])) body.pop();
    const task = /^\[([ xX])\][ \t]+/.exec(body[0].text);
    if (task) body[0] = cut(body[0], task[0].length);
    loose ||= body.some((line, n) => n > 0 && blank(line) && !blank(body[n + 1] ?? line) && !BULLET.test(body[n + 1].text));
    items.push({ type: 'item', checked: task ? task[1] !== ' ' : undefined, children: parse(body, references, depth + 1), start: start.at, end: end(body[body.length - 1]) });
    j = k;
    let after = j;
    while (after < lines.length && blank(lines[after])) after += 1;
    if (after > j && after < lines.length) {
      const next = BULLET.exec(lines[after].text);
      if (!next || /\d/.test(next[2]) !== ordered || next[2].at(-1) !== sign) break;
      loose = true;
      j = after;
    }
  }
  out.push({ type: 'list', ordered, first: ordered ? parseInt(opening[2], 10) : undefined, loose, children: items, start: items[0].start, end: items[items.length - 1].end });
  return j;
}

/** Lines that are indented under a first one: the body of an aside or a footnote. */
function under(lines, i) {
  let j = i + 1;
  for (; j < lines.length; j += 1) {
    if (blank(lines[j])) {
      const next = lines.slice(j).find((line) => !blank(line));
      if (!next || indent(next.text) < 4) break;
    } else if (indent(lines[j].text) < 4) break;
  }
  return j;
}

function aside(lines, i, match, references, depth, out) {
  const j = under(lines, i);
  const body = lines.slice(i + 1, j).map((line) => cut(line, 4));
  out.push({ type: 'aside', info: match[2] ?? match[1], children: parse(body, references, depth + 1), start: lines[i].at, end: end(lines[j - 1]) });
  return j;
}

function footnote(lines, i, match, references, depth, out) {
  const j = under(lines, i);
  const body = [cut(lines[i], match[0].length), ...lines.slice(i + 1, j).map((line) => cut(line, 4))];
  out.push({ type: 'footnote', info: match[1], children: parse(body, references, depth + 1), start: lines[i].at, end: end(lines[j - 1]) });
  return j;
}

function indented(lines, i, out) {
  let j = i;
  let last = i;
  for (; j < lines.length && (blank(lines[j]) || indent(lines[j].text) >= 4); j += 1) if (!blank(lines[j])) last = j;
  const text = lines.slice(i, last + 1).map((line) => line.text.slice(4)).join('\n');
  out.push({ type: 'code', info: '', text, start: lines[i].at, end: end(lines[last]) });
  return last + 1;
}

function table(lines, i, out) {
  const align = cells(lines[i + 1].text).map((cell) => (/^:.*:$/.test(cell) ? 'center' : cell.endsWith(':') ? 'right' : ''));
  const rows = [cells(lines[i].text)];
  let j = i + 2;
  for (; j < lines.length && !blank(lines[j]) && lines[j].text.includes('|'); j += 1) rows.push(cells(lines[j].text));
  out.push({ type: 'table', rows: rows.map((row) => align.map((_, n) => row[n] ?? '')), align, start: lines[i].at, end: end(lines[j - 1]) });
  return j;
}

/** The cells of a table's row; a bar that is escaped or inside code is text. @param {string} text */
function cells(text) {
  const out = [''];
  let code = false;
  for (let i = 0; i < text.length; i += 1) {
    const c = text[i];
    if (c === '\\' && text[i + 1] === '|') {
      out[out.length - 1] += '|';
      i += 1;
    } else if (c === '|' && !code) out.push('');
    else {
      if (c === '`') code = !code && text.indexOf('`', i + 1) > 0;
      out[out.length - 1] += c;
    }
  }
  if (out[0].trim() === '') out.shift();
  if (out.length && out[out.length - 1].trim() === '') out.pop();
  return out.map((cell) => cell.trim());
}

function startsBlock(text) {
  return FENCE.test(text) || HEADING.test(text) || RULE.test(text) || QUOTE.test(text) || /^ {0,3}\$\$/.test(text) || ASIDE.test(text)
    || /^ {0,3}(?:[-+*]|1[.)])[ \t]+\S/.test(text);
}

function paragraph(lines, i, out) {
  let j = i + 1;
  for (; j < lines.length && !blank(lines[j]); j += 1) {
    const underline = /^ {0,3}(=+|-+)[ \t]*$/.exec(lines[j].text);
    if (underline) {
      out.push({ type: 'heading', level: underline[1][0] === '=' ? 1 : 2, text: join(lines.slice(i, j)), start: lines[i].at, end: end(lines[j]) });
      return j + 1;
    }
    if (startsBlock(lines[j].text)) break;
  }
  out.push({ type: 'paragraph', text: join(lines.slice(i, j)), start: lines[i].at, end: end(lines[j - 1]) });
  return j;
}

/** The lines of a paragraph; two spaces at an end are kept, since they break the line. */
const join = (lines) => lines.map(({ text }) => text.replace(/^[ \t]+/, '').replace(/[ \t]+$/, (gap) => (gap.length > 1 ? '  ' : ''))).join('\n').trimEnd();
