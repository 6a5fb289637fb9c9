// One Chromium for a test file, and pages that remember everything that went wrong in them.

import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import puppeteer from 'puppeteer-core';

const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

/** The path of Chromium: `CHROME`, or the usual places. */
function executable() {
  const places = [process.env.CHROME, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
  const found = places.find((path) => path && existsSync(path));
  if (!found) throw new Error('no Chromium was found: set CHROME to its path');
  return found;
}

export const launch = () => chromium.launch({ executablePath: executable(), args: ARGS });

/**
 * A page in a context of its own. `problems` collects console errors, page errors and policy violations;
 * a test ends with `assert.deepEqual(page.problems, [])`.
 * @param {import('playwright-core').Browser} browser
 * @param {import('playwright-core').BrowserContextOptions} [options]
 */
export async function openPage(browser, options = {}) {
  const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1200, height: 860 }, ...options });
  const page = await context.newPage();
  /** @type {string[]} */
  const problems = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(`console ${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`page error: ${error.message}`));
  page.on('crash', () => problems.push('the page crashed'));
  return Object.assign(page, { problems });
}

/** Firefox: `FIREFOX`, or Debian's. Nothing where there is none. */
export const firefoxPath = () => [process.env.FIREFOX, '/usr/bin/firefox-esr', '/usr/bin/firefox'].find((path) => path && existsSync(path));

/** Any Firefox, over WebDriver BiDi: Playwright's own protocol needs a Firefox of its own. @param {Record<string, unknown>} [extraPrefsFirefox] */
export const launchFirefox = (extraPrefsFirefox = {}) => puppeteer.launch({ browser: 'firefox', executablePath: firefoxPath(), headless: true, extraPrefsFirefox });
