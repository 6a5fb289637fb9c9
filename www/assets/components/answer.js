// The answer above the results: asked for with a button, written from the passages, every citation opening its passage.

import { answerText } from './answer-text.js';
import { el, safeUrl } from './dom.js';
import { keepFeedback, placeOf } from './feedback.js';
import { llmSettings } from './llm-settings.js';
import { href as pageHref } from './routes.js';
import { check, completeQuestion, connect, extractive, findPassages, prompt, refusal, stream, useTemplates } from '../engine/answers.js';

/** How many turns of a conversation a follow-up is understood with. */
const MEMORY = 3;

/**
 * @param {HTMLElement} root
 * @param {object} parts
 * @param {import('../engine/group.js').AnyEngine} parts.engine
 * @param {URL} parts.base
 * @param {() => any} parts.strings
 * @param {() => string} parts.language
 * @param {(text: string) => void} parts.announce
 * @param {import('./routes.js').Href} [parts.href]
 * @param {ParentNode} [parts.place] where the dialog of settings goes
 */
export function answerCard(root, { engine, base, strings, language, announce, href = pageHref, place: dialogs }) {
  let turn = new AbortController();
  /** @type {{ text: string, collections: string[], filters: any[] }} */
  let question = { text: '', collections: [], filters: [] };
  /** `markdown` is the turn for those who take the conversation away. @type {{ question: string, answer: string, markdown: string }[]} */
  let history = [];
  const settings = llmSettings({ strings, language, onChange: () => offer(), place: dialogs });

  /** Shows what can be asked for; nothing has been. */
  function offer() {
    const { answer: s } = strings();
    turn.abort();
    history = [];
    const model = settings.current();
    root.replaceChildren(el('div', { class: 'answer-offer' },
      el('button', { type: 'button', class: 'button button-main', 'data-answer': '', onclick: () => ask(question) }, s.ask),
      el('span', { class: 'answer-by' }, model ? s.byModel(model.model) : s.byPassages),
      el('button', { type: 'button', class: 'button button-quiet', 'data-llm': '', onclick: () => settings.open() }, model ? s.settings : s.setUp)));
    root.hidden = !question.text;
  }

  /** @param {typeof question} asked @param {string} [as] what the reader wrote, where it was completed */
  async function ask(asked, as = asked.text) {
    turn.abort();
    turn = new AbortController();
    const { signal } = turn;
    const { answer: s } = strings();
    const stop = el('button', { type: 'button', class: 'button button-quiet', onclick: () => turn.abort() }, s.stop);
    const state = el('p', { class: 'answer-state', role: 'status' }, s.searching);
    const body = el('div', { class: 'answer-text prose', 'aria-live': 'off' });
    const thoughts = el('details', { class: 'answer-thoughts', hidden: true }, el('summary', {}, s.thinking));
    const think = thinking(thoughts);
    const sources = el('ol', { class: 'answer-sources' });
    const foot = el('div', { class: 'answer-foot' });
    const article = el('article', { class: 'answer', 'aria-busy': true, 'aria-label': s.label },
      el('header', { class: 'answer-head' }, el('h2', {}, as), state, stop), thoughts, body, sources, foot);
    if (history.length) root.querySelector('.answer-next')?.replaceWith(article);
    else root.replaceChildren(article);

    /** @type {import('../engine/answers.js').Segment[]} */
    let segments = [];
    /** @type {import('../engine/answers.js').Found | undefined} */
    let found;
    /** @type {import('../engine/answers.js').Passage[]} */
    let passages = [];
    const order = [];
    const opened = (n) => {
      const entry = sources.querySelector(`[data-n="${n}"] details`);
      if (!entry) return;
      entry.open = true;
      entry.scrollIntoView({ block: 'nearest' });
      entry.querySelector('summary').focus();
    };
    const cite = (n, passage) => el('button', {
      type: 'button', class: 'cite', 'data-cite': n, 'aria-label': s.citation(n, place(passages[passage])), title: place(passages[passage]), onclick: () => opened(n),
    }, String(n));
    const debug = { began: performance.now(), first: 0, messages: /** @type {any} */ (undefined), reply: /** @type {string[]} */ ([]) };
    const text = answerText(body, { strings, cite });
    text.clear();
    const add = (segment) => {
      segments.push(segment);
      if (segment.kind === 'citation' && !order.includes(segment.passage)) {
        order.push(segment.passage);
        sources.append(source(segment.n, passages[segment.passage], asked.text));
      }
      text.add(segment);
    };
    let chat;
    let end;
    let kind = 'extractive';
    let checked;
    try {
      useTemplates(engine);
      const model = settings.current();
      if (model) chat = await connect(model);
      let full = asked;
      if (chat && history.length) {
        full = { ...asked, text: await completeQuestion(chat, history.slice(-MEMORY).map(({ question: before, answer }) => ({ question: before, answer })), asked.text, signal) };
        // What was asked of the base is not hidden from whoever asked.
        if (full.text !== asked.text) state.after(el('p', { class: 'answer-understood' }, s.understood(full.text)));
      }
      const helper = chat && settings.helps() ? { chat, numCtx: model?.numCtx ?? 8192 } : undefined;
      if (helper) state.textContent = s.preparing(model?.model ?? '');
      found = await findPassages(engine, full, signal, helper);
      passages = found.passages;
      let nothing = await refusal(full.text);
      if (!found.relevance.relevant) {
        kind = 'nothing';
        add({ kind: 'text', text: nothing });
      } else if (chat) {
        kind = 'generated';
        const request = await prompt(found, model?.numCtx ?? 8192);
        passages = request.passages;
        nothing = request.refusal;
        debug.messages = request.messages;
        state.textContent = s.writing(model?.model ?? '');
        end = await stream(chat, request, (event) => {
          debug.first ||= performance.now();
          if (event.kind === 'reasoning') {
            thoughts.hidden = false;
            think(event.text);
          } else if (event.kind === 'restart') {
            thoughts.hidden = false;
            think(segments.map((segment) => (segment.kind === 'text' ? segment.text : '')).join(''));
            segments = [];
            order.length = 0;
            sources.replaceChildren();
            text.clear();
          } else if (event.kind !== 'waiting') {
            if (event.kind === 'text') debug.reply.push(event.text);
            add(event);
          }
        }, signal);
      } else {
        state.textContent = s.choosing;
        for (const segment of await extractive(engine, found, signal)) add(segment);
      }
      // A longer answer would hold up the page; its beginning says enough.
      checked = await check(engine, firstPart(segments), passages, nothing, found.relevance.score, signal);
      if (kind === 'generated' && checked.refused) kind = 'refused';
      await text.finish(segments, kind === 'generated' ? checked.sentences : []);
    } catch (error) {
      await text.finish(segments, []);
      article.removeAttribute('aria-busy');
      stop.remove();
      if (error.name === 'AbortError') {
        state.textContent = s.stopped;
        if (!segments.length) return offer();
      } else {
        state.textContent = '';
        foot.append(problem(error));
      }
      next(article);
      return;
    } finally {
      chat?.free();
    }
    article.removeAttribute('aria-busy');
    article.dataset.kind = kind;
    stop.remove();
    state.textContent = s.kinds[kind](settings.current()?.model ?? '');
    if (kind === 'nothing' || kind === 'refused') {
      passages.slice(0, 3).forEach((passage, i) => sources.append(source(i + 1, passage, asked.text)));
      if (passages.length) sources.before(el('p', { class: 'answer-nearest' }, s.nearest));
    }
    const turnText = markdown(as, segments, order.map((passage) => passages[passage]), base);
    finishFoot(foot, { kind, checked, end, passages, order, turnText, scope: asked, debug, found });
    history.push({ question: as, answer: plain(segments), markdown: turnText });
    next(article);
    announce(s.ready);
  }

  /** A question that goes on from this answer: only a language model understands it. */
  function next(article) {
    if (!settings.current()) return;
    const { answer: s } = strings();
    const input = el('input', { type: 'text', placeholder: s.followUp, 'aria-label': s.followUp, autocomplete: 'off' });
    const form = el('form', { class: 'answer-next' }, input, el('button', { type: 'submit', class: 'button' }, s.askNext));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const text = input.value.trim();
      if (text) ask({ ...question, text });
    });
    article.after(form);
  }

  function problem(error) {
    const { answer: s, llm } = strings();
    const known = error.name === 'ChatError' ? error.message : s.problems[error.code] ?? strings().errors[error.code] ?? s.failed;
    return el('div', { class: 'notice notice-problem', role: 'alert' },
      el('p', {}, known), el('p', { class: 'notice-code' }, error.code ?? 'unknown'),
      el('button', { type: 'button', class: 'button', onclick: () => ask(question) }, strings().status.retry), ' ',
      el('button', { type: 'button', class: 'button button-quiet', onclick: () => settings.open() }, llm.title));
  }

  function source(n, passage, query) {
    const { answer: s } = strings();
    const entry = engine.info.documents.find((doc) => doc.collection === passage.collection && doc.path === passage.path);
    const original = safeUrl(entry?.url, entry?.site ?? base);
    const address = href({ site: entry?.site, doc: `${passage.collection}/${passage.path}`, passage: passage.chunkId, anchor: passage.anchor, query });
    return el('li', { 'data-n': n, value: n },
      el('details', {},
        el('summary', {}, el('span', { class: 'answer-n' }, String(n)), el('span', {}, place(passage)), el('span', { class: 'hit-file' }, passage.path)),
        el('blockquote', { class: 'answer-passage', lang: entry?.lang === 'other' ? undefined : entry?.lang }, passage.text),
        el('p', { class: 'answer-links' },
          el('a', { href: address, 'data-chunk': passage.chunkId }, s.open), ' ',
          original ? el('a', { href: passage.anchor ? `${original.split('#')[0]}#${passage.anchor}` : original, rel: 'noopener noreferrer' }, s.original) : '')));
  }

  function finishFoot(foot, { kind, checked, end, passages, order, turnText, scope, debug, found }) {
    const { answer: s } = strings();
    const tools = el('div', { class: 'answer-tools' });
    foot.append(tools);
    const button = (label, onclick) => {
      const made = el('button', { type: 'button', class: 'button button-quiet', onclick: () => onclick(made) }, label);
      tools.append(made);
    };
    const copied = (text) => async (made) => {
      await navigator.clipboard.writeText(await text());
      made.textContent = strings().reader.copied;
    };
    if (end?.cut) foot.prepend(el('p', { class: 'notice-code', role: 'status' }, s.cut));
    if (kind === 'generated' || kind === 'extractive') {
      tools.append(el('span', { class: 'answer-confidence', title: s.confidenceMeans }, s.confidence(Math.round(checked.confidence * 100))));
      if (checked.sentences.some(({ verdict }) => verdict === 'weak' || verdict === 'uncited') && kind === 'generated') tools.append(el('span', { class: 'answer-weak' }, s.weak));
      button(s.copy, copied(() => turnText));
    }
    if (history.length) {
      const all = [...history.map((one) => one.markdown), turnText];
      button(s.copyAll, copied(() => all.join('\n')));
    }
    button(s.copyPrompt, copied(async () => (await prompt(found, 16_384)).messages.map(({ content }) => content).join('\n\n')));
    const thank = (value) => (made) => {
      keepFeedback({ question: found.question, useful: value, on: 'answer', kind, places: order.map((passage) => placeOf(passages[passage])), collections: scope.collections, filters: scope.filters });
      made.parentElement.querySelectorAll('[data-feedback]').forEach((each) => each.remove());
      tools.append(el('span', {}, s.thanks));
    };
    button(s.useful, thank(true));
    tools.lastChild.setAttribute('data-feedback', '');
    button(s.notUseful, thank(false));
    tools.lastChild.setAttribute('data-feedback', '');
    const facts = [
      found.lookups.length ? s.lookedUp(found.lookups.join(' · ')) : '', s.relevance(found.relevance.score), s.time(performance.now() - debug.began), debug.first ? s.firstToken(debug.first - debug.began) : '',
      end ? s.tokens(end.promptTokens, end.completionTokens) : s.noCall, end?.unresolved ? s.unresolved(end.unresolved) : '', end && end.reason !== 'stop' ? s.ends[end.reason] : '',
    ];
    foot.append(el('details', { class: 'answer-debug' }, el('summary', {}, s.debug),
      el('p', {}, facts.filter(Boolean).join(' · ')),
      el('ol', {}, ...found.hits.map((hit) => el('li', {}, `${hit.score.toFixed(4)}  ${hit.path} › ${hit.headingPath.at(-1) ?? hit.title}`))),
      ...(debug.messages ?? []).map(({ role, content }) => el('div', {}, el('h3', {}, role), el('pre', {}, content))),
      debug.reply.length ? el('div', {}, el('h3', {}, s.reply), el('pre', {}, debug.reply.join(''))) : ''));
  }

  return {
    /** The question that the page shows now; an answer to another one goes. @param {typeof question} asked */
    about({ text, collections, filters }) {
      const asked = { text, collections, filters };
      if (JSON.stringify(asked) === JSON.stringify(question)) return;
      question = asked;
      offer();
    },
    /** Asks for the answer, as the button does. */
    ask: () => question.text && ask(question),
    translate: () => (root.querySelector('.answer') ? undefined : offer()),
  };
}

const place = (passage) => (passage ? [passage.title, ...passage.headingPath].filter((part, i, all) => part && part !== all[i - 1]).join(' › ') : '');

/** Shows what a model thinks aloud, a piece for every frame and in paragraphs, so that a long one does not hold up the page. */
function thinking(root) {
  const lines = el('div');
  root.append(lines);
  let [waiting, scheduled] = ['', false];
  return (/** @type {string} */ text) => {
    waiting += text;
    if (scheduled) return;
    scheduled = true;
    setTimeout(() => {
      if (!lines.lastChild || lines.lastChild.textContent.length > 4000) lines.append(el('p'));
      lines.lastChild.append(waiting);
      [waiting, scheduled] = ['', false];
    }, 50);
  };
}

/** How much of an answer is compared with its sources. Characters. */
const CHECKED = 8000;

function firstPart(segments) {
  let left = CHECKED;
  const out = [];
  for (const segment of segments) {
    if (left <= 0) break;
    out.push(segment);
    if (segment.kind === 'text') left -= segment.text.length;
  }
  return out;
}

const plain = (segments) => segments.map((segment) => (segment.kind === 'text' ? segment.text : `[${segment.n}]`)).join('').trim();

/** The answer as Markdown with its sources. */
function markdown(question, segments, passages, base) {
  const list = passages.map((passage, i) => {
    const address = new URL(pageHref({ doc: `${passage.collection}/${passage.path}`, passage: passage.chunkId, anchor: passage.anchor }), base);
    return `${i + 1}. [${place(passage).replace(/[[\]]/g, '')}](${address.href})`;
  });
  return `## ${question}\n\n${plain(segments)}\n\n${list.join('\n')}\n`;
}
