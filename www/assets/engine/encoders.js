// Workers that hold a model. Knowledge bases of one page that were built with the same model share one worker, and so the
// model's download and memory.

import { startWorker } from './host.js';
import { RpcClient, cancelled } from './rpc.js';

/** @typedef {{ client: RpcClient, seats: Set<EncoderSeat> }} Shared */

/** By what the model is. @type {Map<string, Shared>} */
const workers = new Map();

/** What a model is: its files. @param {import('./client.js').Model} model */
export const modelKey = (model) => model.files.map(({ sha256 }) => sha256).join(' ');

/** One knowledge base's place in such a worker. */
export class EncoderSeat {
  #key;
  #base;
  #handlers;
  /** @type {Shared} */ #shared;
  /** @type {(reason: Error) => void} */ #giveUp = () => {};
  /** Fails when the seat is left. @type {Promise<never>} */ #left;

  /**
   * @param {string} key see {@link modelKey}
   * @param {string} base address of the knowledge base's folder
   * @param {{ onEvent: (name: string, data: any) => void, onCrash: (error: import('./rpc.js').EngineError) => void }} handlers
   */
  constructor(key, base, handlers) {
    this.#key = key;
    this.#base = base;
    this.#handlers = handlers;
    this.#left = new Promise((_, reject) => (this.#giveUp = reject));
    this.#left.catch(() => {});
    this.#shared = workers.get(key) ?? open(key);
    this.#shared.seats.add(this);
  }

  /** @param {string} method @param {any[]} args @param {{ signal?: AbortSignal }} [options] @returns {Promise<any>} */
  call(method, args, options) {
    return Promise.race([this.#shared.client.call(method, [this.#base, ...args], options), this.#left]);
  }

  /** Gives the place up; the worker ends with its last one. */
  stop() {
    this.#giveUp(cancelled());
    if (!this.#shared.seats.delete(this)) return;
    if (this.#shared.seats.size > 0) {
      this.#shared.client.call('close', [this.#base]).catch(() => {});
      return;
    }
    this.#shared.client.stop();
    if (workers.get(this.#key) === this.#shared) workers.delete(this.#key);
  }

  /** @param {string} name @param {any} data */
  event(name, data) {
    if (data.base === this.#base) this.#handlers.onEvent(name, data);
  }

  /** @param {import('./rpc.js').EngineError} error */
  crashed(error) {
    this.#shared.seats.delete(this);
    this.#handlers.onCrash(error);
  }
}

/** @param {string} key @returns {Shared} */
function open(key) {
  /** @type {Set<EncoderSeat>} */
  const seats = new Set();
  const client = new RpcClient(() => startWorker(new URL('./encoder-worker.js', import.meta.url)), {
    onEvent: (name, data) => seats.forEach((seat) => seat.event(name, data)),
    onCrash: (error) => {
      workers.delete(key);
      [...seats].forEach((seat) => seat.crashed(error));
    },
  });
  const shared = { client, seats };
  workers.set(key, shared);
  return shared;
}
