// Requests to a worker: each has an id, can be cancelled, and fails with a code and a hint.

/**
 * An error that crosses the worker's border: `code` is stable (`kb::corrupt`), `hint` says what to do next.
 */
export class EngineError extends Error {
  /** @param {string} code @param {string} message @param {string} [hint] */
  constructor(code, message, hint = '') {
    super(message);
    this.name = 'EngineError';
    this.code = code;
    this.hint = hint;
  }
}

/** The code of whatever was thrown; `engine::trap` where WebAssembly itself stopped. */
export function codeOf(error) {
  if (typeof error?.code === 'string') return error.code;
  if (typeof WebAssembly !== 'undefined' && error instanceof WebAssembly.RuntimeError) return 'engine::trap';
  if (error instanceof RangeError) return 'engine::memory';
  return 'unknown';
}

/** What `await` throws when a request was given up because a newer one made it useless. */
export const cancelled = () => new DOMException('given up for a newer request', 'AbortError');

/** What answers: a worker, or the worker's code on the page itself. @typedef {Worker | MessagePort} Line */

/** The page's end. */
export class RpcClient {
  /** @type {Line | undefined} */ #line;
  #pending = new Map();
  /** What was said before the other end could listen. @type {[any, Transferable[]][]} */ #waiting = [];
  #ready = false;
  #ended = false;
  #next = 1;
  #onEvent;
  #onCrash;

  /**
   * @param {() => Worker} start starts the worker
   * @param {{ onEvent?: (name: string, data: any) => void, onCrash?: (error: EngineError) => void, here?: () => Promise<MessagePort> }} handlers
   *   `onCrash` is called once, when the worker can answer nothing more; `here` runs its code on the page where the page may start none
   */
  constructor(start, { onEvent = () => {}, onCrash = () => {}, here } = {}) {
    this.#onEvent = onEvent;
    this.#onCrash = onCrash;
    /** @type {Worker} */
    let worker;
    try {
      worker = start();
    } catch (error) {
      if (!here) throw new EngineError('worker::blocked', String(error));
      this.#moveHere(here, error);
      return;
    }
    this.#listen(worker);
    // A worker that the browser ends says nothing. It holds a lock while it lives: who gets it knows that it is gone.
    const life = `kb-worker-${Math.random().toString(36).slice(2)}${Date.now().toString(36)}`;
    if (navigator.locks) this.#send({ hold: life });
    worker.onerror = (event) => {
      event.preventDefault();
      if (!this.#ready && here && this.#line === worker) this.#moveHere(here, event.message);
      else this.#crash(new EngineError(this.#ready ? 'engine::trap' : 'worker::blocked', event.message ?? 'the worker did not start'));
    };
  }

  /** @param {Line} line */
  #listen(line) {
    this.#line = line;
    line.onmessage = ({ data }) => {
      if (this.#line !== line) return;
      if (data.ready) {
        this.#ready = true;
        for (const [message, transfer] of this.#waiting.splice(0)) line.postMessage(message, transfer);
      } else if (data.held) {
        navigator.locks.request(data.held, () => {
          if (this.#line === line) this.#crash(new EngineError('engine::trap', 'the worker was ended'));
        }).catch(() => {}); // the page goes
      } else if (data.event) this.#onEvent(data.event, data.data);
      else this.#settle(data);
    };
  }

  /** @param {() => Promise<MessagePort>} here @param {any} why */
  async #moveHere(here, why) {
    const before = this.#line;
    this.#waiting = this.#waiting.filter(([{ hold }]) => !hold);
    const line = await here().catch(() => undefined);
    // Stopped meanwhile.
    if (this.#ended || this.#line !== before) return end(line);
    if (line) {
      end(before);
      this.#listen(line);
    } else if (before) this.#crash(new EngineError('worker::blocked', String(why)));
    else this.#giveUp(new EngineError('worker::blocked', String(why)));
  }

  /** @param {any} message @param {Transferable[]} [transfer] */
  #send(message, transfer = []) {
    if (this.#ready) this.#line?.postMessage(message, transfer);
    else this.#waiting.push([message, transfer]);
  }

  /**
   * @param {string} method @param {any[]} args
   * @param {{ signal?: AbortSignal, transfer?: Transferable[] }} [options]
   * @returns {Promise<any>}
   */
  call(method, args, { signal, transfer = [] } = {}) {
    if (this.#ended) return Promise.reject(new EngineError('engine::trap', 'the worker has stopped'));
    if (signal?.aborted) return Promise.reject(cancelled());
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#send({ id, method, args }, transfer);
      signal?.addEventListener('abort', () => {
        if (!this.#pending.delete(id)) return;
        this.#send({ cancel: id });
        reject(cancelled());
      }, { once: true });
    });
  }

  /** Stops the worker; requests that still wait are given up. */
  stop() {
    this.#end();
    for (const { reject } of this.#pending.values()) reject(cancelled());
    this.#pending.clear();
  }

  #end() {
    end(this.#line);
    this.#line = undefined;
    this.#ended = true;
    this.#waiting = [];
  }

  #settle({ id, value, error }) {
    const waiting = this.#pending.get(id);
    this.#pending.delete(id);
    if (!error) return waiting?.resolve(value);
    const failure = new EngineError(error.code, error.message, error.hint);
    waiting?.reject(failure);
    // After a trap the module's memory can no longer be trusted.
    if (error.code === 'engine::trap' || error.code === 'engine::memory') this.#crash(failure);
  }

  #crash(error) {
    if (this.#line) this.#giveUp(error);
  }

  #giveUp(error) {
    this.#end();
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
    this.#onCrash(error);
  }
}

/** @param {Line | undefined} line */
function end(line) {
  if (line instanceof MessagePort) line.close();
  else line?.terminate();
}

/** Where the worker's code that is just being loaded on the page itself answers. @type {MessagePort | undefined} */
let port;
let loaded = 0;
/** @type {Promise<any>} */
let loading = Promise.resolve();

/**
 * Runs a worker's code on the page, where a policy lets it start no worker.
 * @param {URL} script @returns {Promise<MessagePort>}
 */
export function serveHere(script) {
  const { port1, port2 } = new MessageChannel();
  // A fragment makes it a module of its own each time; one after the other, so that each finds its own port.
  loading = loading.catch(() => {}).then(() => {
    port = port2;
    return import(`${script.href}#${loaded += 1}`);
  });
  return loading.then(() => port1);
}

/**
 * The worker's end: begins requests one after the other, and drops those that were cancelled before their turn came.
 * @param {Record<string, (...args: any[]) => any>} methods
 * @returns {{ emit: (event: string, data: any) => void }} `emit` tells the page something that no request asked for
 */
export function serve(methods) {
  /** @type {any} */
  const line = port ?? self;
  port = undefined;
  /** @type {{ id: number, method: string, args: any[] }[]} */
  let queue = [];
  let running = false;

  const answer = async ({ id, method, args }) => {
    try {
      const value = await methods[method](...args);
      line.postMessage({ id, value });
    } catch (error) {
      line.postMessage({ id, error: { code: codeOf(error), message: error?.message ?? String(error), hint: error?.hint ?? '' } });
    }
  };
  const run = async () => {
    running = true;
    // A turn of the event loop before each request lets cancellations that were posted after it arrive first.
    while (await new Promise((next) => setTimeout(next, 0)), queue.length) {
      answer(/** @type {any} */ (queue.shift()));
    }
    running = false;
  };
  line.onmessage = ({ data }) => {
    if (data.hold) {
      navigator.locks?.request(data.hold, () => {
        line.postMessage({ held: data.hold });
        return new Promise(() => {});
      }).catch(() => {}); // pages from the disk may have no locks
      return;
    }
    if (data.cancel) {
      queue = queue.filter((request) => request.id !== data.cancel);
      return;
    }
    queue.push(data);
    if (!running) run();
  };
  line.postMessage({ ready: true });
  return { emit: (event, data) => line.postMessage({ event, data }) };
}
