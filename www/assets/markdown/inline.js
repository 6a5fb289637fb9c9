// Markdown inside a block: code, emphasis, links, images, breaks, formulas. Raw HTML stays text, but for a few
// harmless tags without attributes.

import { el } from '../components/dom.js';

/** Longer runs of text are not looked through for markup. */
const MAX_LENGTH = 50_000;
/** Elements that a document may ask for by tag. */
const TAGS = new Set(['kbd', 'sub', 'sup', 'b', 'i', 'em', 'strong', 'code', 'mark', 'u', 's', 'del', 'ins', 'small', 'q', 'cite', 'var', 'samp', 'abbr', 'dfn']);
/** Tags that are left out, and what is in them kept. */
const WRAPPERS = new Set(['div', 'p', 'span', 'center', 'font', 'figure', 'figcaption', 'details', 'summary', 'section', 'picture', 'source', 'a', 'nobr', 'wbr', 'article']);

const PUNCTUATION = /[\p{P}\p{S}]/u;
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff00-\uffef]/u;

/**
 * @typedef {object} InlineContext
 * @property {(target: string) => ({ href: string, inside: boolean } | undefined)} link
 * @property {Map<string, string>} references
 * @property {{ image: string }} strings
 */

/**
 * @param {string} text @param {InlineContext} context @returns {DocumentFragment}
 */
export function renderInline(text, context) {
  const out = document.createDocumentFragment();
  if (text.length > MAX_LENGTH) out.append(text);
  else out.append(...emphasis(tokens(text, context)));
  return out;
}

/**
 * Plain nodes and runs of `*`, `_`, `~` that may become emphasis.
 * @typedef {{ node: Node } | { run: string, char: string, length: number, opens: boolean, closes: boolean }} Token
 * @param {string} text @param {InlineContext} context @returns {any[]}
 */
function tokens(text, context) {
  /** @type {any[]} */
  const out = [];
  let plain = '';
  const flush = () => {
    if (plain) out.push({ node: document.createTextNode(plain) });
    plain = '';
  };
  const push = (node) => {
    flush();
    out.push({ node });
  };
  /** Marks that were looked for in vain, so that no text is searched twice. */
  const absent = new Set();
  const indexOf = (mark, from) => {
    if (absent.has(mark)) return -1;
    const at = text.indexOf(mark, from);
    if (at < 0) absent.add(mark);
    return at;
  };

  for (let i = 0; i < text.length;) {
    const c = text[i];
    if (c === '\\' && i + 1 < text.length) {
      const next = text[i + 1];
      if (next === '\n') push(el('br'));
      else plain += /[!-/:-@[-`{-~]/.test(next) ? next : `\\${next}`;
      i += 2;
    } else if (c === '`') {
      const mark = /^`+/.exec(text.slice(i, i + 64))?.[0] ?? '`';
      let close = indexOf(mark, i + mark.length);
      while (close >= 0 && (text[close + mark.length] === '`' || text[close - 1] === '`')) {
        let skip = close + mark.length;
        while (text[skip] === '`') skip += 1;
        close = text.indexOf(mark, skip);
      }
      if (close < 0) {
        plain += mark;
        i += mark.length;
      } else {
        const code = text.slice(i + mark.length, close).replaceAll('\n', ' ');
        push(el('code', {}, /^ .*[^ ].* $/.test(code) ? code.slice(1, -1) : code));
        i = close + mark.length;
      }
    } else if (c === '$') {
      const formula = tex(text, i, indexOf);
      if (formula) {
        push(el('span', { class: 'tex', 'data-display': formula.display }, formula.source));
        i = formula.end;
      } else {
        plain += c;
        i += 1;
      }
    } else if (c === '!' && text[i + 1] === '[') {
      const found = bracket(text, i + 1, context);
      if (found) {
        // Pictures are not part of a knowledge base: their description is shown in their place.
        push(el('span', { class: 'image' }, `${context.strings.image}${found.label ? `: ${found.label}` : ''}`));
        i = found.end;
      } else {
        plain += c;
        i += 1;
      }
    } else if (c === '[') {
      const footnote = /^\[\^([^\]\s]{1,80})\]/.exec(text.slice(i, i + 90));
      const wiki = /^\[\[([^\]|\n]{1,200})(?:\|([^\]\n]{1,200}))?\]\]/.exec(text.slice(i, i + 420));
      const found = footnote || wiki ? undefined : bracket(text, i, context);
      if (footnote) push(el('sup', {}, footnote[1]));
      else if (wiki) push(anchor(wiki[1], [document.createTextNode(wiki[2] ?? wiki[1])], context));
      else if (found) push(anchor(found.target, emphasis(tokens(found.label, context)), context));
      else plain += c;
      i = footnote ? i + footnote[0].length : wiki ? i + wiki[0].length : found ? found.end : i + 1;
    } else if (c === '<') {
      i = angle(text, i, context, push, (more) => (plain += more), indexOf);
    } else if (c === '&') {
      const entity = /^&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos|nbsp|copy|hellip|mdash|ndash|times|le|ge|rarr|larr));/.exec(text.slice(i, i + 12));
      plain += entity ? entityText(entity) : c;
      i += entity ? entity[0].length : 1;
    } else if (c === '*' || c === '_' || c === '~') {
      let end = i;
      while (text[end] === c) end += 1;
      flush();
      out.push(run(text, i, end, c));
      i = end;
    } else if (c === '\n') {
      if (plain.endsWith('  ')) {
        plain = plain.trimEnd();
        push(el('br'));
      } else if (!(CJK.test(text[i - 1] ?? '') && CJK.test(text[i + 1] ?? ''))) plain += ' '; // no gap between two lines of Chinese
      i += 1;
    } else if (c === 'h' && /^https?:\/\//.test(text.slice(i, i + 8)) && !/[\w/]/.test(text[i - 1] ?? '')) {
      const bare = /^https?:\/\/[^\s<>"'`\u3000-\u303f\uff00-\uffef\u4e00-\u9fff]+/.exec(text.slice(i, i + 2000))?.[0].replace(/[.,:;!?*_~)\]]+$/, '') ?? 'h';
      if (bare.length > 10) push(anchor(bare, [document.createTextNode(bare)], context));
      else plain += bare;
      i += bare.length;
    } else {
      plain += c;
      i += 1;
    }
  }
  flush();
  return out;
}

/** `$…$` and `$$…$$`, by Pandoc's rule: no space inside the dollars, no digit after the closing one. */
function tex(text, i, indexOf) {
  const display = text[i + 1] === '$';
  const mark = display ? '$$' : '$';
  const from = i + mark.length;
  const close = indexOf(mark, from);
  if (close <= from || (!display && (/\s/.test(text[from]) || /[\s\\]/.test(text[close - 1]) || /\d/.test(text[close + 1] ?? '')))) return undefined;
  return { source: text.slice(from, close).trim(), display, end: close + mark.length };
}

/** `[label](target "title")`, `[label][reference]` or `[reference]`, from the opening bracket. */
function bracket(text, i, { references }) {
  let depth = 0;
  let close = -1;
  for (let j = i; j < text.length && j < i + 4000; j += 1) {
    if (text[j] === '\\') j += 1;
    else if (text[j] === '[') depth += 1;
    else if (text[j] === ']' && --depth === 0) {
      close = j;
      break;
    }
  }
  if (close < 0) return undefined;
  const label = text.slice(i + 1, close);
  const rest = text.slice(close + 1, close + 2500);
  const inline = /^\([ \t\n]*(?:<([^<>\n]*)>|((?:[^\s()\\]|\\.|\([^\s()]*\))*))(?:[ \t\n]+(?:"[^"]*"|'[^']*'|\([^()]*\)))?[ \t\n]*\)/.exec(rest);
  if (inline) return { label, target: (inline[1] ?? inline[2]).replace(/\\([!-/:-@[-`{-~])/g, '$1'), end: close + 1 + inline[0].length };
  const named = /^\[([^\]]*)\]/.exec(rest);
  const target = references.get((named?.[1] || label).trim().toLowerCase());
  return target === undefined ? undefined : { label, target, end: close + 1 + (named?.[0].length ?? 0) };
}

function anchor(target, children, { link }) {
  const found = link(target);
  if (!found) return el('span', {}, ...children);
  return el('a', found.inside ? { href: found.href, 'data-inside': true } : { href: found.href, rel: 'noopener noreferrer' }, ...children);
}

/** `<https://…>`, the few tags that are allowed, and everything else as the text it is. Returns where to go on. */
function angle(text, i, context, push, plain, indexOf) {
  const rest = text.slice(i, i + 2000);
  const auto = /^<((?:https?:\/\/|mailto:)[^\s<>]*)>/i.exec(rest) ?? /^<([\w.+-]+@[\w-]+(?:\.[\w-]+)+)>/.exec(rest);
  if (auto) {
    push(anchor(auto[1].includes(':') ? auto[1] : `mailto:${auto[1]}`, [document.createTextNode(auto[1])], context));
    return i + auto[0].length;
  }
  if (rest.startsWith('<!--')) {
    const close = indexOf('-->', i + 4);
    if (close > 0) return close + 3;
  }
  const tag = /^<(\/?)([a-zA-Z][a-zA-Z0-9]*)(\s[^<>]*)?\/?>/.exec(rest);
  const name = tag?.[2].toLowerCase() ?? '';
  if (tag && name === 'br') {
    push(el('br'));
    return i + tag[0].length;
  }
  if (tag && WRAPPERS.has(name)) return i + tag[0].length;
  if (tag && TAGS.has(name) && !tag[1]) {
    const inner = i + tag[0].length;
    const close = indexOf(`</${tag[2]}>`, inner);
    if (close >= 0) {
      push(el(name, {}, ...emphasis(tokens(text.slice(inner, close), context))));
      return close + name.length + 3;
    }
  }
  plain('<');
  return i + 1;
}

/** A run of emphasis characters and whether it can open or close, by CommonMark's flanking rules. */
function run(text, start, end, char) {
  const before = text[start - 1] ?? ' ';
  const after = text[end] ?? ' ';
  const space = (c) => /\s/.test(c);
  // Between Chinese characters there is no space to tell opening from closing by, so both are allowed there.
  const mark = (c) => PUNCTUATION.test(c) && !CJK.test(c);
  const left = !space(after) && (!mark(after) || space(before) || mark(before) || CJK.test(before));
  const right = !space(before) && (!mark(before) || space(after) || mark(after) || CJK.test(after));
  const inWord = char === '_';
  return {
    run: text.slice(start, end), char, length: end - start,
    opens: left && (!inWord || !right || PUNCTUATION.test(before)),
    closes: right && (!inWord || !left || PUNCTUATION.test(after)),
  };
}

/** CommonMark's procedure for delimiter runs, on a flat list of tokens. @param {any[]} list @returns {Node[]} */
function emphasis(list) {
  for (let c = 0; c < list.length; c += 1) {
    const closer = list[c];
    if (!closer.closes) continue;
    for (let o = c - 1; o >= 0 && c - o < 2000; o -= 1) {
      const opener = list[o];
      if (!opener.opens || opener.char !== closer.char || !opener.length) continue;
      if (closer.char === '~') {
        if (opener.length !== closer.length || closer.length > 2) continue;
      } else if ((opener.closes || closer.opens) && (opener.length + closer.length) % 3 === 0 && (opener.length % 3 || closer.length % 3)) continue;
      const use = closer.char === '~' ? closer.length : Math.min(opener.length, closer.length, 2);
      const tag = closer.char === '~' ? 'del' : use === 2 ? 'strong' : 'em';
      const inner = list.splice(o + 1, c - o - 1);
      list.splice(o + 1, 0, { node: el(tag, {}, ...inner.map(toNode)) });
      opener.length -= use;
      closer.length -= use;
      c = o + 2; // the closer's place now
      if (!closer.length) break;
      o = c - 1;
    }
  }
  return list.map(toNode);
}

/** A token as a node; what is left of a run is text. */
const toNode = (token) => token.node ?? document.createTextNode(token.char.repeat(token.length));

const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0', copy: '©', hellip: '…', mdash: '—', ndash: '–', times: '×', le: '≤', ge: '≥', rarr: '→', larr: '←' };

/** @param {RegExpExecArray} match */
function entityText([whole, decimal, hex, name]) {
  if (name) return ENTITIES[name];
  const code = decimal ? parseInt(decimal, 10) : parseInt(hex, 16);
  return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : whole;
}
