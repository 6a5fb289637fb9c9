// An answer as elements while it is written: Markdown of unknown origin, with citations that can be pressed.

import { el, safeUrl } from './dom.js';
import { renderMarkdown } from '../markdown/render.js';

// Stand-ins inside the Markdown for what becomes elements afterwards; the same characters of the text itself are taken out.
const [OPEN, CLOSE, WEAK, END] = ['\uE000', '\uE001', '\uE002', '\uE003'];
const STAND_INS = /[\uE000-\uE003]/g;
/** How much is drawn in one go. Characters. */
const PIECE = 3000;
/** A block longer than this is drawn as several: a table gets its head again, code its fence. Characters. */
const LONGEST_BLOCK = 5000;
/** The same for a table, whose cells cost more. Characters. */
const LONGEST_TABLE = 2500;
/** How long drawing may go on before the page gets its turn. Milliseconds. */
const BUDGET = 6;
/** How a line of Markdown may begin before its words. */
const LINE_START = /^[ \t]*(?:[-*+>#]+[ \t]+|\d+[.)][ \t]+)*/;
const FENCE = /^(`{3,}|~{3,}|\$\$)/;

/** @typedef {{ from: number, to: number, head: string, foot: string, root: HTMLElement }} Part a stretch of the source that is drawn */

/**
 * @param {HTMLElement} root
 * @param {{ strings: () => any, cite: (n: number, passage: number) => HTMLElement }} parts `cite` makes the element of a citation
 */
export function answerText(root, { strings, cite }) {
  let source = '';
  /** Finished blocks are drawn once, as parts; what follows them is drawn again with every piece. @type {Part[]} */
  let parts = [];
  let done = 0;
  /** What goes before the rest of a block that was cut, so that it is the same kind of block. */
  let head = '';
  let scheduled = false;
  let tailShows = '';
  const tail = el('div', { class: 'answer-tail' });
  /** @type {Map<number, number>} number of a citation to the index of its passage */
  const passages = new Map();

  /** Draws one more finished part, if there is one. @param {boolean} all whether nothing more will come */
  const step = (all) => {
    const next = nextPart(source, done, head, all);
    if (!next) return false;
    const part = { from: done, to: next.to, head, foot: next.foot, root: el('div', { class: 'answer-part' }) };
    part.root.append(...render(part.head + source.slice(part.from, part.to) + part.foot));
    tail.before(part.root);
    parts.push(part);
    ({ to: done, head } = next);
    return true;
  };

  /** @returns {boolean} whether finished parts are left */
  const draw = () => {
    const began = performance.now();
    while (step(false)) if (performance.now() - began > BUDGET) return true;
    const rest = head + source.slice(done);
    if (rest !== tailShows) tail.replaceChildren(...render(rest));
    tailShows = rest;
    return false;
  };

  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    const run = () => {
      scheduled = false;
      if (draw()) schedule();
    };
    // A page in the background has no frames, and its reader may come back to it.
    if (document.hidden) setTimeout(run, 100);
    else requestAnimationFrame(run);
  };

  const render = (text) => {
    const fragment = renderMarkdown(text, {
      sections: [], span: undefined, idPrefix: 'answer-', title: '', strings: strings().reader,
      link: (target) => {
        const url = /^(https?|mailto):/i.test(target) ? safeUrl(target, 'https://kb.invalid/') : undefined;
        return url ? { href: url, inside: false } : undefined;
      },
    });
    replaceStandIns(fragment, (n) => cite(n, passages.get(n) ?? 0), strings().answer.weak);
    return [...fragment.childNodes];
  };

  return {
    clear() {
      [source, parts, done, head, tailShows] = ['', [], 0, '', ''];
      passages.clear();
      tail.replaceChildren();
      root.replaceChildren(tail);
    },
    /** @param {import('../engine/answers.js').Segment} segment */
    add(segment) {
      if (segment.kind === 'text') source += segment.text.replace(STAND_INS, '');
      else {
        passages.set(segment.n, segment.passage);
        source += `${OPEN}${segment.n}${CLOSE}`;
      }
      schedule();
    },
    /** Draws what is left, then marks the sentences that are not backed, piece by piece. @param {import('../engine/answers.js').Segment[]} segments @param {{ start: number, end: number, verdict: string }[]} sentences */
    async finish(segments, sentences) {
      scheduled = true; // from here on this function draws
      while (step(true)) await turn();
      tail.replaceChildren();
      const unbacked = sentences.filter(({ verdict }) => verdict === 'weak' || verdict === 'uncited');
      const ranges = inSource(segments, unbacked);
      for (const part of parts) {
        const inside = ranges.filter(({ start, end }) => start < part.to && end > part.from);
        if (!inside.length) continue;
        const text = withMarks(source.slice(part.from, part.to), inside.map(({ start, end }) => ({ start: start - part.from, end: end - part.from })));
        part.root.replaceChildren(...render(part.head + text + part.foot));
        await turn();
      }
    },
  };
}

/** Lets the page draw and react. */
const turn = () => new Promise((resolve) => setTimeout(resolve, 0));

/**
 * The next part that cannot change any more: some whole blocks, or a piece of a block that is too long.
 * @param {string} source @param {number} from @param {string} head @param {boolean} all whether the text is complete
 * @returns {{ to: number, head: string, foot: string } | undefined}
 */
function nextPart(source, from, head, all) {
  if (from >= source.length) return undefined;
  const end = lastBreak(source, from, PIECE, head);
  if (end > from) return { to: end, head: '', foot: '' };
  const most = source.startsWith('|', from) ? LONGEST_TABLE : LONGEST_BLOCK;
  if (source.length - from > most) return cut(source, from, head);
  return all ? { to: source.length, head: '', foot: '' } : undefined;
}

/** The end of the last block within `most` characters, or of the first one at all: a blank line outside code and formulas. */
function lastBreak(source, from, most, head) {
  let [end, open] = [from, FENCE.exec(head)?.[1] ?? ''];
  for (let at = from; at < source.length && (end === from || at - from < most) && at - from < LONGEST_BLOCK;) {
    const next = source.indexOf('\n', at);
    if (next < 0) break;
    const line = source.slice(at, Math.min(next, at + 200)).trim();
    open = fenceAfter(line, open);
    if (!open && !line && at > from) end = next + 1;
    at = next + 1;
  }
  return end;
}

/** The fence that is open behind a line. */
function fenceAfter(line, open) {
  const mark = FENCE.exec(line)?.[1] ?? '';
  if (open) return mark.startsWith(open) ? '' : open;
  return mark && !(mark === '$$' && line.length > 4 && line.endsWith('$$')) ? mark : '';
}

/** Cuts a block that is too long: behind a line if there is one, else behind a word, with what its rest needs in front. */
function cut(source, from, head) {
  const window = source.slice(from, from + PIECE);
  const line = window.lastIndexOf('\n');
  const space = Math.max(window.lastIndexOf(' '), window.lastIndexOf('。') + 1);
  let to = from + (line > PIECE / 4 ? line + 1 : space > PIECE / 4 ? space : PIECE);
  // Neither a character nor a citation is cut in two.
  while (to > from + 1 && (/[\uDC00-\uDFFF]/.test(source[to]) || /[\d\uE001]/.test(source[to]) && /\uE000\d*$/.test(source.slice(to - 8, to)))) to -= 1;
  const text = head + source.slice(from, to);
  let [open, opener] = ['', ''];
  for (const one of text.split('\n')) {
    const after = fenceAfter(one.trim(), open);
    if (after && !open) opener = one;
    open = after;
  }
  if (open) return { to, head: `${opener}\n`, foot: `${text.endsWith('\n') ? '' : '\n'}${open}\n` };
  const table = /^[ \t]*\|?.*\|.*\n[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t:|-]*)?\n/.exec(text);
  return { to, head: table && text.endsWith('\n') ? table[0] : '', foot: '' };
}

/** Ranges of the text without citations as ranges of the source with stand-ins. */
function inSource(segments, ranges) {
  /** @type {{ start: number, end: number }[]} */
  const out = [];
  let [text, source, next] = [0, 0, 0];
  /** @type {number | undefined} */
  let start;
  for (const segment of segments) {
    if (segment.kind === 'citation') {
      source += String(segment.n).length + 2;
      continue;
    }
    // Characters that were taken out have a place in the text and none in the source.
    const shift = (to) => source + segment.text.slice(0, to - text).replace(STAND_INS, '').length;
    const until = text + segment.text.length;
    while (next < ranges.length) {
      const range = ranges[next];
      if (start === undefined && range.start < until) start = shift(range.start);
      if (start === undefined || range.end > until) break;
      out.push({ start, end: shift(range.end) });
      start = undefined;
      next += 1;
    }
    source = shift(until);
    text = until;
  }
  return out;
}

/** The Markdown with stand-ins around the given ranges. */
function withMarks(text, ranges) {
  let [out, at] = ['', 0];
  for (const range of ranges) {
    let start = Math.max(range.start, at);
    let end = Math.min(range.end, text.length);
    // A mark before `- ` or `## ` would make it text, one behind a line or a table's last bar would hide what follows.
    const line = text.lastIndexOf('\n', start - 1) + 1;
    start = Math.max(start, line + (LINE_START.exec(text.slice(line, end))?.[0].length ?? 0));
    while (start < end && !/[\p{L}\p{N}]/u.test(text[start])) start += 1;
    while (end > start && /[\s|]/.test(text[end - 1])) end -= 1;
    if (end <= start) continue;
    out += text.slice(at, start) + WEAK + text.slice(start, end) + END;
    at = end;
  }
  return out + text.slice(at);
}

/** Puts elements in the place of stand-ins. @param {DocumentFragment} fragment */
function replaceStandIns(fragment, cite, weakTitle) {
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) nodes.push(/** @type {Text} */ (walker.currentNode));
  let weak = false;
  for (const node of nodes) {
    if (!weak && node.data.search(STAND_INS) < 0) continue;
    const parts = [];
    const code = node.parentElement?.closest('code, pre');
    for (const [piece] of node.data.matchAll(/\uE000(\d*)\uE001?|[\uE001-\uE003]|[^\uE000-\uE003]+/g)) {
      if (piece === WEAK || piece === END) weak = piece === WEAK;
      else if (piece[0] === OPEN) {
        const n = Number(piece.replace(/\D/g, ''));
        if (n && !code) parts.push(cite(n));
        else if (n) parts.push(`[${n}]`);
      } else if (piece !== CLOSE) parts.push(weak && !code ? el('span', { class: 'answer-weak', title: weakTitle }, piece) : piece);
    }
    node.replaceWith(...parts);
  }
}
