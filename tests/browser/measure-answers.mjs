// How fast an answer reaches the screen, how fast a stop ends the traffic, and how long an answer of 50,000 tokens holds up the page.
// `node measure-answers.mjs`, with a kb-builder program as for the tests; prints one JSON object.

import { answered, waitFor } from './support/actions.mjs';
import { launch, openPage } from './support/browser.mjs';
import { languageModel } from './support/llm.mjs';
import { LONG, tokens } from './support/long.mjs';
import { serve, siteOf } from './support/site.mjs';

const TIMES = 20;
const QUESTION = 'how often is the boiler serviced';
const now = () => performance.timeOrigin + performance.now();
const spread = (values) => {
  const sorted = values.map((value) => Math.round(value * 10) / 10).sort((a, b) => a - b);
  return { median: sorted[sorted.length >> 1], worst: sorted.at(-1) };
};

const site = await siteOf({ 'boiler.md': '# Boiler\n\nThe boiler is serviced twice a year, in April and in October.\n' }, ['--no-model']);
const [browser, server] = await Promise.all([launch(), serve(site.site)]);

/** A page with a question and this model set up. */
async function open(model) {
  const page = await openPage(browser);
  await page.goto(`${server.url}?q=${encodeURIComponent(QUESTION)}`);
  await waitFor(page, 'words', 'ready');
  await answered(page, QUESTION, 'words');
  await page.locator('[data-llm]').click();
  await page.locator('.llm-dialog [name=provider]').selectOption('ollama');
  await page.fill('.llm-dialog [name=baseUrl]', model.url);
  await page.fill('.llm-dialog [name=model]', 'tiny:1b');
  await page.locator('.llm-dialog .button-main').click();
  return page;
}

async function latency() {
  const [first, stopped] = [[], []];
  for (let i = 0; i < TIMES; i += 1) {
    const model = await languageModel({ reply: () => ({ pieces: [`word${i} `], pause: 15, endless: true }) });
    const page = await open(model);
    // On the screen: the frame after the one in which the text came into the document.
    await page.evaluate(() => {
      window.shown = 0;
      const watch = new MutationObserver(() => {
        if (window.shown || !document.querySelector('.answer-text')?.textContent?.includes('word')) return;
        window.shown = -1;
        requestAnimationFrame(() => setTimeout(() => (window.shown = performance.timeOrigin + performance.now())));
      });
      watch.observe(document.body, { subtree: true, childList: true, characterData: true });
    });
    await page.locator('[data-answer]').click();
    await page.waitForFunction(() => window.shown > 0);
    first.push(await page.evaluate(() => window.shown) - (performance.timeOrigin + model.state.first));
    const click = await page.evaluate(() => {
      const at = performance.timeOrigin + performance.now();
      document.querySelector('.answer-head .button').click();
      return at;
    });
    const waited = now();
    while (!model.state.closed && now() - waited < 5000) await new Promise((resolve) => setTimeout(resolve, 2));
    stopped.push(performance.timeOrigin + model.state.closed - click);
    await page.context().close();
    await model.close();
  }
  return { first_token_on_screen_ms: spread(first), stop_to_closed_connection_ms: spread(stopped) };
}

async function long() {
  const out = {};
  for (const [name, text] of Object.entries(LONG)) {
    const model = await languageModel({ reply: () => ({ pieces: tokens(text), burst: 200 }) });
    const page = await open(model);
    await page.evaluate(() => {
      window.tasks = [];
      new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => window.tasks.push(duration))).observe({ type: 'longtask' });
    });
    const began = now();
    await page.locator('[data-answer]').click();
    await page.locator('.answer:not([aria-busy])').waitFor({ timeout: 300_000 });
    const tasks = await page.evaluate(() => window.tasks);
    const shown = await page.evaluate(() => document.querySelector('.answer-text').textContent.length);
    out[name] = { seconds: Math.round((now() - began) / 100) / 10, characters: shown, tasks_over_50_ms: tasks.length, longest_ms: Math.max(0, ...tasks) };
    await page.context().close();
    await model.close();
  }
  return out;
}

console.log(JSON.stringify({ ...await latency(), long_answers: await long() }, null, 2));
await browser.close();
await server.close();
await site.remove();
