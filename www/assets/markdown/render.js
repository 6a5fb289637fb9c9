// A converted document as elements. Nothing of it is ever parsed as HTML.

import { el } from '../components/dom.js';
import { parseBlocks } from './blocks.js';
import { renderInline } from './inline.js';

/**
 * @param {string} source Markdown
 * @param {object} options
 * @param {{ level: number, title: string, anchor: string, start: number, end: number }[]} options.sections UTF-16 ranges
 * @param {{ start: number, end: number } | undefined} options.span the passage to point out, UTF-16
 * @param {string} options.idPrefix put before every anchor to make an element's id
 * @param {string} options.title shown above already: a first heading that says the same is left out
 * @param {{ image: string, copy: string, copied: string, passage: string }} options.strings
 * @param {(target: string) => ({ href: string, inside: boolean } | undefined)} options.link
 * @returns {DocumentFragment}
 */
export function renderMarkdown(source, { sections, span, idPrefix, title, strings, link }) {
  const { blocks, references } = parseBlocks(source);
  const context = { references, strings, link, idPrefix, span, anchors: new Map(sections.map((section) => [section.start, section.anchor])) };
  const out = document.createDocumentFragment();
  const first = blocks.findIndex((block) => block.type === 'heading');
  if (first === 0 && plain(blocks[0].text ?? '') === plain(title)) blocks.shift();
  // The page's own title is its h1: a document with further ones begins at h2.
  Object.assign(context, { shift: blocks.some(({ type, level }) => type === 'heading' && level === 1) ? 1 : 0 });
  /** @type {any} */
  let passage;
  for (const block of blocks) {
    const element = render(block, context);
    if (!element) continue;
    if (!overlaps(block, span)) {
      passage = undefined;
      out.append(element);
    } else if (block.type === 'list' && block.children?.some((item) => !overlaps(item, span))) {
      // Only some items belong to the passage: they were marked one by one.
      passage = undefined;
      out.append(element);
    } else {
      if (!passage) {
        passage = el('section', { class: 'passage', tabindex: -1, 'aria-label': strings.passage });
        out.append(passage);
      }
      passage.append(element);
    }
  }
  return out;
}

const plain = (text) => text.replace(/\s*\{[#.][^}]*\}\s*$/, '').replace(/[*_`#]/g, '').trim().toLowerCase();

/** @param {{ start: number, end: number }} block @param {{ start: number, end: number } | undefined} span */
const overlaps = (block, span) => span !== undefined && block.start < span.end && block.end > span.start;

/** @param {import('./blocks.js').Block} block @param {any} context @returns {HTMLElement | undefined} */
function render(block, context) {
  const inline = (text) => renderInline(text ?? '', context);
  const children = () => (block.children ?? []).map((child) => render(child, context)).filter(Boolean);
  switch (block.type) {
    case 'heading': {
      const anchor = context.anchors.get(block.start);
      const level = Math.min(Math.max((block.level ?? 1) + context.shift, 2), 6);
      return el(`h${level}`, { id: anchor ? context.idPrefix + anchor : undefined, 'data-heading': true }, inline(block.text?.replace(/\s*\{[#.:][^}]*\}\s*$/, '')));
    }
    case 'paragraph': {
      const content = inline(block.text);
      return content.textContent?.trim() || content.childElementCount ? el('p', {}, content) : undefined;
    }
    case 'code': return code(block, context.strings);
    case 'math': return el('div', { class: 'tex', 'data-display': true, tabindex: 0 }, block.text);
    case 'quote': return el('blockquote', {}, ...children());
    case 'rule': return el('hr');
    case 'list': return list(block, context);
    case 'table': return table(block, inline);
    case 'aside': return el('div', { class: 'aside' }, el('p', { class: 'aside-title' }, inline(block.info)), ...children());
    case 'footnote': return el('div', { class: 'footnote' }, el('sup', {}, block.info), ' ', ...children());
    default: return undefined;
  }
}

function list(block, context) {
  const partly = overlaps(block, context.span) && block.children.some((item) => !overlaps(item, context.span));
  const items = block.children.map((item) => {
    // A tight list shows its paragraphs without paragraph gaps.
    const inner = item.children.flatMap((child) => {
      if (!block.loose && child.type === 'paragraph') return [renderInline(child.text, context)];
      return [render(child, context)].filter(Boolean);
    });
    const classes = [item.checked === undefined ? '' : 'task', partly && overlaps(item, context.span) ? 'passage' : ''].filter(Boolean).join(' ');
    return el('li', { class: classes || undefined }, item.checked === undefined ? '' : el('input', { type: 'checkbox', disabled: true, checked: item.checked }), ...inner);
  });
  return el(block.ordered ? 'ol' : 'ul', { start: block.ordered && block.first !== 1 ? block.first : undefined }, ...items);
}

function table(block, inline) {
  const row = (cells, tag) => el('tr', {}, ...cells.map((cell, n) => el(tag, { 'data-align': block.align[n] || undefined, scope: tag === 'th' ? 'col' : undefined }, inline(cell))));
  const [head, ...body] = block.rows;
  return el('div', { class: 'table', tabindex: 0, role: 'group' }, el('table', {}, el('thead', {}, row(head, 'th')), el('tbody', {}, ...body.map((cells) => row(cells, 'td')))));
}

function code(block, strings) {
  const pre = el('pre', { tabindex: 0 }, el('code', { 'data-language': block.info || undefined }, block.text));
  const copy = el('button', { type: 'button', class: 'button copy', onclick: async () => {
    try {
      await navigator.clipboard.writeText(block.text);
      copy.textContent = strings.copied;
      setTimeout(() => (copy.textContent = strings.copy), 1500);
    } catch { /* not allowed here: the text can still be selected */ }
  } }, strings.copy);
  return el('div', { class: 'code' }, pre, navigator.clipboard ? copy : '');
}
