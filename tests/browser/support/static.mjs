// A static server for tests that need one of their own: under a sub-path, with damaged or held-back files, counting bytes.
// It compresses what GitHub Pages compresses, so that sizes are those of a real visit.

import { createServer } from 'node:http';
import { readFile, stat } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { gzipSync } from 'node:zlib';

const TYPES = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8',
  '.json': 'application/json', '.svg': 'image/svg+xml', '.wasm': 'application/wasm',
};

/**
 * Serves `folder` on a free port.
 * @param {string} folder
 * @param {object} [options]
 * @param {string} [options.prefix] path that the folder stands under, with slashes at both ends
 * @param {(path: string, bytes: Buffer) => any} [options.change] other bytes for a file, or an HTTP status; may be a promise that holds the file back
 * @param {(path: string) => number | undefined} [options.pace] bytes a second for a file; as fast as it goes if left out
 * @param {Record<string, string>} [options.headers] sent with every reply
 * @param {Record<string, string>} [options.extra] HTML pages that are not in the folder, by path
 */
export async function serveFolder(folder, { prefix = '/', change = () => undefined, pace = () => undefined, headers = {}, extra = {} } = {}) {
  /** Body bytes on the wire, by path inside the folder. @type {Map<string, number>} */
  const sent = new Map();
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname);
    const inside = path.startsWith(prefix) ? normalize(path.slice(prefix.length)) : '..';
    const fail = (status) => response.writeHead(status, { 'content-type': 'text/plain' }).end(String(status));
    const reply = (bytes, type = 'application/octet-stream') => {
      const body = /text|json|javascript|svg|wasm/.test(type) ? gzipSync(bytes) : bytes;
      sent.set(inside, (sent.get(inside) ?? 0) + body.length);
      response.writeHead(200, { 'content-type': type, 'cache-control': 'max-age=600', ...(body === bytes ? {} : { 'content-encoding': 'gzip' }), ...headers });
      const rate = pace(inside);
      if (!rate) return response.end(body);
      // Ten pieces a second, as long as somebody takes them.
      let at = 0;
      const timer = setInterval(() => {
        response.write(body.subarray(at, at += Math.ceil(rate / 10)));
        if (at < body.length) return;
        clearInterval(timer);
        response.end();
      }, 100);
      response.on('close', () => clearInterval(timer));
    };
    if (inside.startsWith('..')) return fail(404);
    if (extra[inside] !== undefined) return reply(Buffer.from(extra[inside]), TYPES['.html']);
    let file = join(folder, inside);
    try {
      if ((await stat(file)).isDirectory()) file = join(file, 'index.html');
      const bytes = await readFile(file);
      const changed = await change(inside, bytes);
      if (typeof changed === 'number') return fail(changed);
      reply(changed ?? bytes, TYPES[extname(file)]);
    } catch {
      fail(404);
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  // A test that failed before it closed its server must not keep the whole run from ending.
  server.unref();
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}${prefix}`,
    sent,
    close: () => new Promise((resolve) => {
      server.close(() => resolve(undefined));
      server.closeAllConnections();
    }),
  };
}

/** A promise that is kept or broken from outside: holds a file back until a test lets it go. */
export function gate() {
  let open = () => {};
  const opened = new Promise((resolve) => (open = () => resolve(undefined)));
  return { opened, open };
}
