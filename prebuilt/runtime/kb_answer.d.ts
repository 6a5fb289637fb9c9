/* tslint:disable */
/* eslint-disable */
// Written by `cargo xtask wasm` from the structs of kb-core and kb-wasm: change those, not this file.

/** Thrown by every function here. `code` is stable, for example `kb::corrupt`. */
export interface KbError extends Error {
    code: string;
    /** What to do next, in English. */
    hint: string;
}

/** Thrown by `Chat`: `code` is `llm::…`, `message` what to do in the reader's language. */
export interface ChatError extends Error {
    code: string;
    /** HTTP status, where there was one. */
    status?: number;
    /** Whether the same request may succeed a little later. */
    mayPass: boolean;
}

/** Passages near a question, best first: indexes of chunks and their cosines. */
export interface Candidates {
    ids: Uint32Array;
    scores: Float32Array;
}

/** What to POST to an embedding service. */
export interface ServiceRequest {
    url: string;
    /** JSON. */
    body: string;
}

/** What arrives while a model writes. */
export type ReplyEvent = Segment | Aside;

/** What the author of a base allows, where that is less than there is room for; the model's window limits it further. */
export interface AnswerLimits {
    /** Most characters of all passages together. */
    context?: number;
    /** Most passages, 1 to `MAX_PASSAGES`. */
    passages?: number;
}

/** What is passed on beside segments. */
export type Aside = { kind: "reasoning"; text: string } | { kind: "restart" } | { kind: "waiting" };

/** How to reach a language model. */
export interface ChatSettings {
    /** Which protocol it speaks. */
    provider: Provider;
    /** The provider's own address if empty. */
    baseUrl?: string;
    /** How long Ollama keeps the model in memory afterwards: `5m`, `0`, `-1`. */
    keepAlive?: string;
    /** Sent to this address only, as a bearer token. */
    key?: string;
    /** The language of the sentences in errors: `zh`, or English. */
    lang?: string;
    /** Most tokens of a reply, reasoning included. */
    maxTokens?: number;
    /** The model's name on the server. */
    model?: string;
    /** The model's window in tokens. */
    numCtx?: number;
    /** 0 to 2; low is faithful. */
    temperature?: number;
}

/** An answer that was compared with its passages. */
export interface Checked {
    /** Every sentence of it, in order. */
    sentences: SentenceSupport[];
    /** The smaller of the search's relevance and the share of the answer that is backed, 0 to 1. */
    confidence: number;
    /** Whether the answer says that nothing was found. */
    refused: boolean;
}

/** A collection of a bundle. */
export interface CollectionInfo {
    /** Its name. */
    name: string;
    /** How many documents it has. */
    documents: number;
    /** How many chunks it has. */
    chunks: number;
}

/** A document of a knowledge base. */
export interface DocumentInfo {
    /** For `document()`. */
    index: number;
    /** Collection of the document. */
    collection: string;
    /** Path of the document in its collection. */
    path: string;
    /** Its title. */
    title: string;
    /** Code of its main language. */
    lang: string;
    /** Where the author says it is published. */
    url?: string;
}

/** The text of a document. */
export interface DocumentText {
    /** Markdown. */
    text: string;
    /** Its headings, in order. */
    sections: Heading[];
}

/** A sentence whose words do not say whether a passage backs it. */
export interface Doubt {
    /** Its text. */
    sentence: string;
    /** Index of a passage that it cites. */
    passage: number;
}

/** Why a reply ended. */
export type EndReason = "stop" | "length" | "filtered" | "interrupted";

/** A piece of a passage. */
export interface Excerpt {
    /** Plain text; empty while the document's text is not loaded, see `Response.missing`. */
    text: string;
    /** What to mark, in order, not overlapping. */
    marks: Span[];
}

/**
 * A condition on a document, or with the key `type` on a passage: `KEY=VALUE`. Conditions on one key are
 * alternatives (IN), conditions on different keys must all hold (AND). Keys: `path` (prefix), `lang`, `tag`,
 * `type` (a `ChunkKind`'s name), or any metadata key.
 * `KEY!=VALUE`, a key that ends in `!`, must not hold (NOT), whatever else does.
 */
export interface Filter {
    /**
     * `path`, `lang`, `tag`, `type` or a metadata key; with `!` at its end the condition is turned round, with `>` or
     * `<` a date is the value or later, or earlier.
     */
    key: string;
    /** The value to be equal to (for `path`: to begin with). */
    value: string;
}

/** A heading of a document. */
export interface Heading {
    /** 1 to 6. */
    level: number;
    /** Plain text. */
    title: string;
    /** Fragment identifier. */
    anchor: string;
    /** First UTF-16 unit of the heading. */
    start: number;
    /** One past the last unit of what is under it, up to the next heading. */
    end: number;
}

/** A passage that was found. */
export interface Hit {
    /** 1 for the best. */
    rank: number;
    /** What the order goes by; larger is better, and comparable within one response only. */
    score: number;
    /** Stable id of the passage, 16 hex digits. */
    chunkId: string;
    /** Collection of the document. */
    collection: string;
    /** Path of the document in its collection. */
    path: string;
    /** Title of the document. */
    title: string;
    /** Headings from the outermost to the passage's own. */
    headingPath: string[];
    /** Fragment identifier of the passage's heading, may be empty. */
    anchor: string;
    /** Language code of the document. */
    lang: string;
    /** What sort of passage it is: `text`, `concept`, `steps`, `parameters`, `warning`, `code`, `table`, … */
    kind: string;
    /** What to show of it. */
    excerpt: Excerpt;
    /** BM25 score, if the words matched. */
    lexicalScore?: number;
    /** Where the source can be opened, fragment included. */
    url?: string;
    /** Cosine, if the vectors proposed it. */
    vectorScore?: number;
}

/** What a knowledge base is. */
export interface Info {
    /** Its name, may be empty. */
    title: string;
    /** Main language as a code, may be empty. */
    language: string;
    /** Changes whenever answers may change. */
    id: string;
    /** How many passages it has. */
    chunks: number;
    /** Its collections. */
    collections: CollectionInfo[];
    /** Its documents. */
    documents: DocumentInfo[];
    /** Its documents' tags and how many documents have each, the most frequent first, 50 at most. */
    tags: TagInfo[];
    /** What the encoder module needs of this base. */
    vectorSections: Section[];
    /** Name of the model that searching by meaning needs; none for a base without vectors. */
    model?: string;
    /** What the author replaces of the words that a language model gets; for `Answer`. */
    templates?: TemplateChanges;
}

/** One message of a chat. */
export interface Message {
    /** Who says it. */
    role: Role;
    /** What is said. */
    content: string;
}

/** Which lists answer a query. */
export type Mode = "hybrid" | "lexical" | "vector";

/** A whole passage with its place. */
export interface Passage {
    /** Stable chunk id, 16 hex digits. */
    chunkId: string;
    /** Collection of the document. */
    collection: string;
    /** Path of the document in its collection. */
    path: string;
    /** Title of the document. */
    title: string;
    /** Headings from the outermost to the passage's own. */
    headingPath: string[];
    /** Fragment identifier of the passage's heading. */
    anchor: string;
    /** The passage in Markdown. */
    text: string;
}

/** What a language model is asked. */
export interface Prompt {
    /** To send. */
    messages: Message[];
    /** The passages that had room, numbered from 1 in this order; the last may be cut. */
    passages: Passage[];
    /** The sentence that says that nothing was found. */
    refusal: string;
    /** How long the messages are. */
    estimatedTokens: number;
}

/** A kind of service, with its defaults. */
export type Provider = "ollama" | "deepseek" | "openai-compatible";

/** A kind of language model that can be asked. */
export interface ProviderInfo {
    /** For `ChatSettings.provider`. */
    name: Provider;
    /** Where it is unless the reader says otherwise; empty if it has to be said. */
    baseUrl: string;
}

/** A search as it was asked. */
export interface Query {
    /** The reader's words. */
    text: string;
    /** Only these collections; all if empty. */
    collections?: string[];
    /** Conditions on documents. */
    filters?: Filter[];
    /** Most hits to return, 1 to 100. */
    k?: number;
    /** Whether passages that say nearly the same as a better hit are hits as well. */
    keepDuplicates?: boolean;
    /** Which lists answer. */
    mode?: Mode;
    /** Whether the reader is still typing: the last word is then taken as the beginning of one. */
    unfinished?: boolean;
}

/** Whether a knowledge base has anything to say about a question. */
export interface Relevance {
    /** 0 to 1. */
    score: number;
    /** Whether to go on. If not, no model is called. */
    relevant: boolean;
}

/** How a reply ended. */
export interface ReplyEnd {
    /** Tokens of the prompt, as the server counts them; 0 if it does not say. */
    promptTokens: number;
    /** Tokens of the reply. */
    completionTokens: number;
    /** Why it ended. */
    reason: EndReason;
    /** Citations that named no passage and were taken out. */
    unresolved: number;
    /** Whether the server has cut the beginning of the prompt off. */
    cut: boolean;
}

/** What a search found. */
export interface Response {
    /** Best first. */
    hits: Hit[];
    /** Which lists answered: `lexical` for a hybrid query that came without candidates. */
    mode: Mode;
    /** Passages that hold one of the query's terms. */
    lexicalCandidates: number;
    /** Passages that the vectors proposed. */
    vectorCandidates: number;
    /** Share of the question's words, by rarity, that the passage with most of them has, 0 to 1. */
    coverage: number;
    /** Share of the question's words, weighted by rarity, that stand nowhere in the base: 0 to 1. */
    unknown: number;
    /** Files of text that must be added before every excerpt can be shown. */
    missing: string[];
}

/** Who says something. */
export type Role = "system" | "user" | "assistant";

/** A file of the bundle. */
export interface Section {
    /** What it holds. */
    kind: "docs" | "text" | "chunks" | "lexical" | "vectors" | "graph" | "terms";
    /** Name of the file beside the manifest. */
    file: string;
    /** Its size. */
    bytes: number;
    /** SHA-256 of the file in hex. */
    sha256: string;
}

/** A piece of an answer. */
export type Segment = { kind: "text"; text: string } | { kind: "citation"; n: number; passage: number };

/** How far a sentence of an answer is backed by what it cites. */
export interface SentenceSupport {
    /** First UTF-16 unit, in the answer without citations. */
    start: number;
    /** One past its last unit. */
    end: number;
    /** What is to be thought of it. */
    verdict: Verdict;
}

/** A range of a JavaScript string, in UTF-16 units. */
export interface Span {
    /** First unit. */
    start: number;
    /** One past the last unit. */
    end: number;
}

/** A tag of a knowledge base's documents. */
export interface TagInfo {
    /** The tag. */
    name: string;
    /** How many documents have it. */
    documents: number;
}

/** What an author replaces in one language; the rest stays as it is. */
export interface TemplateChange {
    /** In place of `Template::refusal`. */
    refusal?: string;
    /** In place of `Template::rewrite`. */
    rewrite?: string;
    /** In place of `Template::system`. */
    system?: string;
    /** In place of `Template::user`. */
    user?: string;
}

/** What an author replaces in both languages. */
export interface TemplateChanges {
    /** For all others. */
    en?: TemplateChange;
    /** For questions in Chinese. */
    zh?: TemplateChange;
}

/** A question and its answer. */
export interface Turn {
    /** What was asked. */
    question: string;
    /** What was answered. */
    answer: string;
}

/** What is to be thought of a sentence. */
export type Verdict = "supported" | "weak" | "uncited" | "unknown" | "noclaim";



/**
 * What makes an answer of passages.
 */
export class Answer {
    free(): void;
    [Symbol.dispose](): void;
    /**
     * The sentences of the passages that `extract` compares with the question, in its order.
     *
     * # Errors
     * Throws a `KbError` for passages of the wrong shape.
     */
    candidates(question: string, passages: Passage[]): string[];
    /**
     * How far each sentence of an answer is backed by the passages that it cites: by their words, and for those
     * of `doubts`, in its order, by the cosines of sentence and passage under the named model. Fewer cosines than
     * doubts, or none, leave the rest to the words.
     *
     * # Errors
     * Throws a `KbError` for segments or passages of the wrong shape.
     */
    check(segments: Segment[], passages: Passage[], refusal: string, relevance: number, cosines: Float32Array | number[], model?: string | null): Checked;
    /**
     * The sentences of an answer that need their meaning compared with a passage that they cite, since their
     * words do not suffice: for `check`.
     *
     * # Errors
     * Throws a `KbError` for segments or passages of the wrong shape.
     */
    doubts(segments: Segment[], passages: Passage[], refusal: string): Doubt[];
    /**
     * The answer without a model: the passages' own sentences, each with its citation. `cosines` are those of
     * `candidates`, where there is an encoder.
     *
     * # Errors
     * Throws a `KbError` for passages of the wrong shape.
     */
    extract(question: string, passages: Passage[], cosines?: Float32Array | number[] | null): Segment[];
    /**
     * Judges what a search found: cosine and language of each hit that has a cosine (none for a search by words),
     * the response's `coverage` and `unknown`, whether one of the `names` is strange, whether there was a hit at all, and the name of the model behind
     * the cosines.
     *
     * # Errors
     * None; the type comes from the serialiser.
     */
    judge(question: string, cosines: Float32Array | number[], langs: string[], coverage: number, unknown: number, strange: boolean, foundAny: boolean, model?: string | null): Relevance;
    /**
     * What is to be looked up beside the question by a reply to `reading`: other words for it and its parts. Nothing if
     * the reply is of no use.
     */
    lookups(reply: string, question: string): string[];
    /**
     * Lists of numbers, best first, in one order by their reciprocal ranks.
     *
     * # Errors
     * Throws a `KbError` for lists of the wrong shape.
     */
    merged(lists: number[][]): Uint32Array;
    /**
     * The names in a question. One is strange if a search by words for it alone says `unknown` of at least `strangeFrom`.
     */
    names(question: string): string[];
    /**
     * With the templates that come with the program and the changes of the knowledge base's author.
     *
     * # Errors
     * Throws a `KbError` for changes of the wrong shape, or that leave out a place or are too long.
     */
    constructor(changes?: TemplateChanges);
    /**
     * The order in a reply to `ranking` of `count` passages: all their indices, the best first. Nothing if the reply
     * is of no use.
     */
    order(reply: string, count: number): Uint32Array | undefined;
    /**
     * The prompt for a question, with as many of the passages as there is room for in a window of `numCtx`
     * tokens.
     *
     * # Errors
     * Throws a `KbError` for passages of the wrong shape.
     */
    prompt(question: string, passages: Passage[], numCtx: number): Prompt;
    /**
     * The kinds of service that can be asked.
     *
     * # Errors
     * None; the type comes from the serialiser.
     */
    providers(): ProviderInfo[];
    /**
     * The messages that ask a model to put passages in order, the best first. They get half of a window of `numCtx`
     * tokens.
     *
     * # Errors
     * Throws a `KbError` for passages of the wrong shape.
     */
    ranking(question: string, passages: Passage[], numCtx: number): Message[];
    /**
     * The messages that ask a model to read a question before it is looked up.
     *
     * # Errors
     * None; the type comes from the serialiser.
     */
    reading(question: string): Message[];
    /**
     * The sentence that says, in the question's language, that nothing was found.
     */
    refusal(question: string): string;
    /**
     * The messages that ask a model to put what is missing into a follow-up question.
     *
     * # Errors
     * Throws a `KbError` for turns of the wrong shape.
     */
    rewrite(history: Turn[], question: string): Message[];
    /**
     * The question out of a reply to `rewrite`, or the question as it was if the reply is of no use.
     */
    rewritten(reply: string, question: string): string;
    /**
     * The passages that an answer may rest on by the limits of the knowledge base's author.
     *
     * # Errors
     * Throws a `KbError` for passages or limits of the wrong shape.
     */
    within(passages: Passage[], limits: AnswerLimits): Passage[];
    /**
     * Most passages that a prompt holds.
     */
    readonly maxPassages: number;
    /**
     * See `names`.
     */
    readonly strangeFrom: number;
}

/**
 * A language model that can be asked.
 */
export class Chat {
    free(): void;
    [Symbol.dispose](): void;
    /**
     * Sends the messages and calls `onEvent` with each piece of the reply, a `ReplyEvent`, as it arrives.
     * `passages` are those of the prompt: what cites none of them is taken out.
     *
     * # Errors
     * Throws a `ChatError`, or an `AbortError` after the signal; then no event follows.
     */
    ask(messages: Message[], passages: Passage[], onEvent: (event: ReplyEvent) => void, signal: AbortSignal): Promise<ReplyEnd>;
    /**
     * The body of the request for these messages, for those who want to see it. The key is not in it.
     *
     * # Errors
     * Throws a `KbError` for messages of the wrong shape.
     */
    body(messages: Message[]): string;
    /**
     * The names of the models that the server has.
     *
     * # Errors
     * Throws a `ChatError`, or an `AbortError` after the signal.
     */
    models(signal: AbortSignal): Promise<string[]>;
    /**
     * The model of these settings. Nothing is sent yet.
     *
     * # Errors
     * Throws a `KbError`: `kb::invalid_input` for an unknown provider or an address that cannot be one.
     */
    constructor(settings: ChatSettings);
    /**
     * The address that requests go to, without a slash at its end.
     */
    readonly baseUrl: string;
}

/**
 * The service that made a knowledge base's vectors and makes those of its questions.
 */
export class EmbeddingService {
    free(): void;
    [Symbol.dispose](): void;
    /**
     * The service of the knowledge base whose `manifest.json` has this `model`, at `baseUrl` or, if that is empty,
     * where the manifest says. `key` is taken out of messages, `lang` is the language of the sentences in errors.
     *
     * # Errors
     * Throws a `KbError`: `kb::missing` if no service made the vectors, `kb::invalid_input` for an address that cannot
     * be one.
     */
    constructor(model: object, baseUrl: string, key: string, lang: string);
    /**
     * The vectors in the answer to a request with `n` texts, one after the other; nothing if the server is an older
     * one that has to be asked again, with what `request` and `batch` say now.
     *
     * # Errors
     * Throws a `ChatError` for an answer without vectors.
     */
    read(status: number, body: Uint8Array | number[], n: number): Float32Array | undefined;
    /**
     * Where to POST what for these texts: questions, or else passages.
     */
    request(questions: boolean, texts: string[]): ServiceRequest;
    /**
     * The address that requests go to, without a slash at its end.
     */
    readonly baseUrl: string;
    /**
     * How many texts a request may have.
     */
    readonly batch: number;
}

/**
 * Runs when the module is instantiated: a panic stops WebAssembly with a bare `unreachable`, so where
 * it happened goes to the console first.
 */
export function start(): void;

export type InitInput = RequestInfo | URL | Response | BufferSource | WebAssembly.Module;

export interface InitOutput {
    readonly memory: WebAssembly.Memory;
    readonly __wbg_answer_free: (a: number, b: number) => void;
    readonly __wbg_chat_free: (a: number, b: number) => void;
    readonly __wbg_embeddingservice_free: (a: number, b: number) => void;
    readonly answer_candidates: (a: number, b: number, c: number, d: any) => [number, number, number, number];
    readonly answer_check: (a: number, b: any, c: any, d: number, e: number, f: number, g: number, h: number, i: number, j: number) => [number, number, number];
    readonly answer_doubts: (a: number, b: any, c: any, d: number, e: number) => [number, number, number];
    readonly answer_extract: (a: number, b: number, c: number, d: any, e: number, f: number) => [number, number, number];
    readonly answer_judge: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number, i: number, j: number, k: number, l: number, m: number) => [number, number, number];
    readonly answer_lookups: (a: number, b: number, c: number, d: number, e: number) => [number, number];
    readonly answer_maxPassages: (a: number) => number;
    readonly answer_merged: (a: number, b: any) => [number, number, number, number];
    readonly answer_names: (a: number, b: number, c: number) => [number, number];
    readonly answer_new: (a: any) => [number, number, number];
    readonly answer_order: (a: number, b: number, c: number, d: number) => [number, number];
    readonly answer_prompt: (a: number, b: number, c: number, d: any, e: number) => [number, number, number];
    readonly answer_providers: (a: number) => [number, number, number];
    readonly answer_ranking: (a: number, b: number, c: number, d: any, e: number) => [number, number, number];
    readonly answer_reading: (a: number, b: number, c: number) => [number, number, number];
    readonly answer_refusal: (a: number, b: number, c: number) => [number, number];
    readonly answer_rewrite: (a: number, b: any, c: number, d: number) => [number, number, number];
    readonly answer_rewritten: (a: number, b: number, c: number, d: number, e: number) => [number, number];
    readonly answer_strangeFrom: (a: number) => number;
    readonly answer_within: (a: number, b: any, c: any) => [number, number, number];
    readonly chat_ask: (a: number, b: any, c: any, d: any, e: any) => any;
    readonly chat_baseUrl: (a: number) => [number, number];
    readonly chat_body: (a: number, b: any) => [number, number, number, number];
    readonly chat_models: (a: number, b: any) => any;
    readonly chat_new: (a: any) => [number, number, number];
    readonly embeddingservice_baseUrl: (a: number) => [number, number];
    readonly embeddingservice_batch: (a: number) => number;
    readonly embeddingservice_new: (a: any, b: number, c: number, d: number, e: number, f: number, g: number) => [number, number, number];
    readonly embeddingservice_read: (a: number, b: number, c: number, d: number, e: number) => [number, number, number];
    readonly embeddingservice_request: (a: number, b: number, c: number, d: number) => any;
    readonly start: () => void;
    readonly wasm_bindgen__convert__closures_____invoke__h673464c27a22995a: (a: number, b: number, c: any, d: any) => void;
    readonly wasm_bindgen__convert__closures_____invoke__h806a9177f1906c19: (a: number, b: number, c: any) => [number, number];
    readonly __wbindgen_malloc: (a: number, b: number) => number;
    readonly __wbindgen_realloc: (a: number, b: number, c: number, d: number) => number;
    readonly __wbindgen_free: (a: number, b: number, c: number) => void;
    readonly __externref_table_alloc: () => number;
    readonly __wbindgen_externrefs: WebAssembly.Table;
    readonly __wbindgen_exn_store: (a: number) => void;
    readonly __wbindgen_destroy_closure: (a: number, b: number) => void;
    readonly __externref_drop_slice: (a: number, b: number) => void;
    readonly __externref_table_dealloc: (a: number) => void;
    readonly __wbindgen_start: () => void;
}

export type SyncInitInput = BufferSource | WebAssembly.Module;

/**
 * Instantiates the given `module`, which can either be bytes or
 * a precompiled `WebAssembly.Module`.
 *
 * @param {{ module: SyncInitInput }} module - Passing `SyncInitInput` directly is deprecated.
 *
 * @returns {InitOutput}
 */
export function initSync(module: { module: SyncInitInput } | SyncInitInput): InitOutput;

/**
 * If `module_or_path` is {RequestInfo} or {URL}, makes a request and
 * for everything else, calls `WebAssembly.instantiate` directly.
 *
 * @param {{ module_or_path: InitInput | Promise<InitInput> }} module_or_path - Passing `InitInput` directly is deprecated.
 *
 * @returns {Promise<InitOutput>}
 */
export default function __wbg_init (module_or_path?: { module_or_path: InitInput | Promise<InitInput> } | InitInput | Promise<InitInput>): Promise<InitOutput>;
