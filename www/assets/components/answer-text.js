// An answer as elements while it is written: Markdown of unknown origin, with citations that can be pressed.

import { el, safeUrl } from './dom.js';
import { renderMarkdown } from '../markdown/render.js';

// Stand-ins inside the Markdown for what becomes elements afterwards; the same characters of the text itself are taken out.
const [OPEN, CLOSE, WEAK, END] = ['\uE000', '\uE001', '\uE002', '\uE003'];
const STAND_INS = /[\uE000-\uE003]/g;
/** How much is drawn in one go. Characters. */
const PIECE = 6000;
/** How a line of Markdown may begin before its words. */
const LINE_START = /^[ \t]*(?:[-*+>#]+[ \t]+|\d+[.)][ \t]+)*/;

/**
 * @param {HTMLElement} root
 * @param {{ strings: () => any, cite: (n: number, passage: number) => HTMLElement }} parts `cite` makes the element of a citation
 */
export function answerText(root, { strings, cite }) {
  /** Finished blocks are drawn once; what follows them is drawn again with every piece. */
  let done = 0;
  let source = '';
  let scheduled = false;
  const tail = el('div', { class: 'answer-tail' });
  /** @type {Map<number, number>} number of a citation to the index of its passage */
  const passages = new Map();

  const draw = () => {
    scheduled = false;
    const end = lastBreak(source, done);
    if (end > done) {
      tail.before(...render(source.slice(done, end)));
      done = end;
    }
    tail.replaceChildren(...render(source.slice(done)));
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
      done = 0;
      source = '';
      passages.clear();
      root.replaceChildren(tail);
      tail.replaceChildren();
    },
    /** @param {import('../engine/answers.js').Segment} segment */
    add(segment) {
      if (segment.kind === 'text') source += segment.text.replace(STAND_INS, '');
      else {
        passages.set(segment.n, segment.passage);
        source += `${OPEN}${segment.n}${CLOSE}`;
      }
      if (scheduled) return;
      scheduled = true;
      requestAnimationFrame(draw);
    },
    /** Draws what is left, or everything again with the sentences that are not backed marked, piece by piece. @param {import('../engine/answers.js').Segment[]} segments @param {{ start: number, end: number, verdict: string }[]} sentences */
    async finish(segments, sentences) {
      const unbacked = sentences.filter(({ verdict }) => verdict === 'weak' || verdict === 'uncited');
      if (!unbacked.length) return draw();
      const whole = withMarks(segments, unbacked);
      /** @type {Node[]} */
      const nodes = [];
      for (let at = 0; at < whole.length;) {
        const end = pieceEnd(whole, at);
        nodes.push(...render(whole.slice(at, end)));
        at = end;
        if (at < whole.length) await new Promise((resolve) => setTimeout(resolve, 0));
      }
      scheduled = true; // nothing is drawn after this
      root.replaceChildren(...nodes);
    },
  };
}

/** Where the next piece of a text ends that is drawn in one go: at a break between blocks, if there is one. */
function pieceEnd(source, from) {
  const end = lastBreak(source.slice(0, from + PIECE), from);
  return end > from && source.length > from + PIECE ? end : source.length > from + PIECE ? breakAfter(source, from) : source.length;
}

/** The first break at all, for a block longer than a piece. */
function breakAfter(source, from) {
  for (let size = 2 * PIECE; from + size < source.length; size *= 2) {
    const end = lastBreak(source.slice(0, from + size), from);
    if (end > from) return end;
  }
  return source.length;
}

/** The end of the last block that cannot change any more: a blank line outside code and formulas. */
function lastBreak(source, from) {
  let [end, open] = [from, ''];
  for (let at = from; at < source.length;) {
    const next = source.indexOf('\n', at);
    if (next < 0) break;
    const line = source.slice(at, next).trim();
    const mark = /^(```|~~~|\$\$)/.exec(line)?.[1] ?? '';
    if (open ? mark === open : mark && !(mark === '$$' && line.length > 4 && line.endsWith('$$'))) open = open ? '' : mark;
    else if (!open && !line && at > from) end = next + 1;
    at = next + 1;
  }
  return end;
}

/** The Markdown with stand-ins for citations and around the given ranges of its text. */
function withMarks(segments, ranges) {
  let [out, at, next] = ['', 0, 0];
  let inside = false;
  for (const segment of segments) {
    if (segment.kind === 'citation') {
      out += `${OPEN}${segment.n}${CLOSE}`;
      continue;
    }
    for (const char of segment.text) {
      const range = ranges[next];
      if (range && !inside && at >= range.start && at < range.end) {
        const begins = out === '' || out.endsWith('\n') || LINE_START.test(out.slice(out.lastIndexOf('\n') + 1)) && out.slice(out.lastIndexOf('\n') + 1).replace(LINE_START, '') === '';
        // A mark before `- ` or `## ` would make it text.
        if (!begins || /[\p{L}\p{N}]/u.test(char)) {
          inside = true;
          out += WEAK;
        }
      }
      if (range && at >= range.end) {
        // Behind the words, not at the beginning of the next line, where it would hide what that line is.
        if (inside) out = out.replace(/\s*$/, (space) => END + space);
        inside = false;
        next += 1;
      }
      out += STAND_INS.test(char) ? '' : char;
      STAND_INS.lastIndex = 0;
      at += char.length;
    }
  }
  return inside ? out.replace(/\s*$/, (space) => END + space) : out;
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
