// One search after the other: the words at once, meaning when it is there, the newest question only.

import { explain } from './status.js';

/** With the model at hand, results by words are held back this long, so that the list need not change twice. Milliseconds. */
const PATIENCE = 180;

/**
 * @param {object} parts
 * @param {import('../engine/group.js').AnyEngine} parts.engine
 * @param {ReturnType<typeof import('./results.js').resultList>} parts.results
 * @param {() => import('../i18n/index.js').Strings} parts.strings
 * @param {() => void} parts.onRetry starts an engine again that failed
 * @param {(response: import('../runtime/kb_search.js').Response, query: Question, meaning: boolean) => void} [parts.onPainted]
 * @param {number} [parts.hits] passages to ask for
 */
export function searchSession({ engine, results, strings, onRetry, onPainted = () => {}, hits = 10 }) {
  let turn = new AbortController();
  /** What the list shows now, to know when it can be made better. */
  let shown = { key: '', meaning: false, hits: 0 };

  const keyOf = (question) => JSON.stringify([question.text, question.collections, question.filters]);

  /**
   * @typedef {{ text: string, collections: string[], filters: { key: string, value: string }[], unfinished?: boolean }} Question
   * @param {Question} question
   */
  async function search(question) {
    turn.abort();
    turn = new AbortController();
    const { signal } = turn;
    if (engine.state.words === 'failed') return problem();
    if (engine.state.words !== 'ready') return results.waiting();
    const query = { ...question, k: hits, mode: 'hybrid' };
    const begun = performance.now();
    const byMeaning = engine.state.meaning === 'ready';
    const finish = async (asking, meaning) => {
      const response = await asking();
      paint(response, query, meaning, performance.now() - begun);
      if (!response.missing.length) return;
      // Titles are there at once; excerpts follow with the part of the text that they are in.
      await engine.loadText(response.missing, signal);
      paint(await asking(), query, meaning, undefined);
    };
    try {
      if (!byMeaning) return await finish(() => engine.searchWords(query, signal), false);
      if (engine.pause) {
        // What is asked of a service is asked once, when the question is there.
        await finish(() => engine.searchWords(query, signal), false);
        await wait(engine.pause, signal);
        return await finish(() => engine.searchMeaning(query, signal), true);
      }
      let settled = false;
      const words = wait(PATIENCE, signal).then(() => (settled ? undefined : engine.searchWords(query, signal)))
        .then((response) => response && !settled && paint(response, query, false, performance.now() - begun)).catch(() => {});
      await finish(() => engine.searchMeaning(query, signal).finally(() => (settled = true)), true);
      await words;
    } catch (error) {
      if (error.name === 'AbortError' || signal.aborted) return;
      // The model failed, not the search: the state has said so, and words still answer.
      if (byMeaning && engine.state.words === 'ready') {
        return finish(() => engine.searchWords(query, signal), false).catch((second) => second.name !== 'AbortError' && problem(second));
      }
      // A worker that stopped is being started again; the same question is asked of the new one.
      if (/** @type {string} */ (engine.state.words) === 'loading') return results.waiting();
      problem(error);
    }
  }

  function paint(response, query, meaning, ms) {
    shown = { key: keyOf(query), meaning, hits: response.hits.length };
    const drawn = results.show({ hits: response.hits, meaning }, { strings: strings(), query, ms, meaningState: engine.state.meaning });
    const done = () => onPainted(response, query, meaning);
    if (drawn) drawn.then(done);
    else done();
  }

  function problem(error = engine.state.error) {
    forget();
    const { status } = strings();
    results.problem({
      title: status.broken, text: explain(error, strings()), code: `${error?.code ?? 'unknown'}: ${error?.message ?? ''}`,
      retry: status.retry, onRetry,
    });
  }

  const forget = () => (shown = { key: '', meaning: false, hits: 0 });

  return {
    search,
    problem,
    /** Makes the next question a new one, even if it is the same. */
    forget,
    /** Gives up what is being searched. */
    stop: () => turn.abort(),
    /** Whether the list shows the answer to this. @param {Question} question */
    shows: (question) => shown.key === keyOf(question),
    /** Asks again when meaning has come, or has failed to, and that changes what is shown. @param {Question} question */
    improve(question) {
      if (shown.key !== keyOf(question) || shown.meaning) return;
      // Better results, or at least better advice where there were none.
      if (engine.state.meaning === 'ready' || shown.hits === 0) search(question);
    },
  };
}

const wait = (ms, signal) => new Promise((resolve, reject) => {
  const timer = setTimeout(resolve, ms);
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    reject(new DOMException('', 'AbortError'));
  }, { once: true });
});
