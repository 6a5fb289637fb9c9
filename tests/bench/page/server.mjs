// A static server as GitHub Pages is one: HTTP/2, compressed. On demand with the latency and the bandwidth of a slow
// network, for all replies together. Here and not in the browser, whose throttle does not reach requests of workers.

import { execFileSync } from 'node:child_process';
import { X509Certificate, createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createSecureServer } from 'node:http2';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { gzipSync } from 'node:zlib';

const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.svg': 'image/svg+xml', '.wasm': 'application/wasm', '.webmanifest': 'application/json' };
/** Bytes that are sent before another reply has its turn. */
const PIECE = 4096;

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function makeCertificate() {
  const dir = mkdtempSync(join(tmpdir(), 'kb-bench-key-'));
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(dir, name));
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost', '-keyout', key, '-out', cert], { stdio: 'ignore' });
  const pair = { key: readFileSync(key), cert: readFileSync(cert) };
  rmSync(dir, { recursive: true });
  return pair;
}

/** A certificate for this run. */
const certificate = makeCertificate();

/** For Chromium's `--ignore-certificate-errors-spki-list`: with any other way to accept the certificate it keeps nothing in its cache. */
export const publicKeyHash = createHash('sha256').update(new X509Certificate(certificate.cert).publicKey.export({ type: 'spki', format: 'der' })).digest('base64');

/**
 * @param {string} folder
 * @param {{ lang?: string }} [options] `lang` of the pages that leave it open
 */
export async function serve(folder, { lang = 'en' } = {}) {
  const kept = new Map();
  /** Milliseconds, and bytes a second; nothing for as fast as it goes. @type {{ latency: number, rate: number } | undefined} */
  let slow;
  let free = 0;
  const counted = { bytes: 0, requests: 0 };
  /** What was asked for, in milliseconds since the network was set. @type {{ path: string, bytes: number, asked: number, first?: number, sent?: number }[]} */
  let log = [];
  let begun = performance.now();

  async function entryOf(path) {
    let entry = kept.get(path);
    if (entry) return entry;
    let file = join(folder, path);
    if ((await stat(file)).isDirectory()) file = join(file, 'index.html');
    let bytes = await readFile(file);
    const type = TYPES[extname(file)] ?? 'application/octet-stream';
    if (file.endsWith('index.html')) bytes = Buffer.from(bytes.toString().replace('lang="LANG"', `lang="${lang}"`));
    const packed = /text|json|javascript|svg|wasm/.test(type);
    entry = { type, packed, body: packed ? gzipSync(bytes) : bytes };
    kept.set(path, entry);
    return entry;
  }

  const server = createSecureServer({ ...certificate, allowHTTP1: true }, async (request, response) => {
    response.on('error', () => {});
    const path = normalize(decodeURIComponent(new URL(request.url ?? '/', 'https://x').pathname));
    const entry = await entryOf(path).catch(() => undefined);
    const limit = slow;
    const line = { path, bytes: entry?.body.length ?? 0, asked: performance.now() - begun };
    log.push(line);
    if (limit) await wait(limit.latency);
    counted.requests += 1;
    line.first = performance.now() - begun;
    if (!entry) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': entry.type, 'cache-control': 'max-age=600', ...(entry.packed ? { 'content-encoding': 'gzip' } : {}) });
    if (!limit) {
      counted.bytes += entry.body.length;
      return void response.end(entry.body);
    }
    for (let at = 0; at < entry.body.length && !response.writableEnded && !response.destroyed; at += PIECE) {
      const piece = entry.body.subarray(at, at + PIECE);
      const now = performance.now();
      free = Math.max(free, now) + (piece.length / limit.rate) * 1000;
      if (free > now) await wait(free - now);
      counted.bytes += piece.length;
      response.write(piece);
    }
    if (!response.destroyed) line.sent = performance.now() - begun;
    response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {any} */ (server.address());
  return {
    url: `https://localhost:${port}/`,
    counted,
    /** What was asked for since the network was set, in that order: `first` byte and last byte `sent`, in milliseconds. */
    get log() {
      return log.map((line) => ({ ...line }));
    },
    /** Begins to count anew, on such a network. @param {typeof slow} network */
    network(network) {
      slow = network;
      free = 0;
      log = [];
      begun = performance.now();
      Object.assign(counted, { bytes: 0, requests: 0 });
    },
    close: () => server.close(),
  };
}
