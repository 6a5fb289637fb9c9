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
 * The model of a knowledge base and the vectors that it made.
 */
export class Encoder {
    free(): void;
    [Symbol.dispose](): void;
    /**
     * Takes the bytes of a section file that the manifest names, in any order.
     *
     * # Errors
     * Throws a `KbError`: `kb::corrupt` for bytes that are not that file, `kb::invalid_input` for a
     * file that is not of use here.
     */
    addSection(file: string, bytes: Uint8Array | number[]): void;
    /**
     * The `k` passages nearest to a question, best first. `allowed` is what `KnowledgeBase.allowed`
     * returned: one bit a chunk. With `plain` the vectors are compared as they are, whatever they have in common:
     * such cosines mean the same in every base, and relevance is judged by them.
     *
     * # Errors
     * Throws a `KbError`: `kb::missing` before the model and the vectors are there.
     */
    candidates(text: string, k: number, allowed?: Uint8Array | number[] | null, plain?: boolean | null): Candidates;
    /**
     * The vector of a question: unit length, as many numbers as the model gives.
     *
     * # Errors
     * Throws a `KbError`: `kb::missing` before `load`.
     */
    embed(text: string): Float32Array;
    /**
     * Takes the vector of a question from the service that has the model, see `EmbeddingService`; then `candidates`
     * knows this question, until it is told of another.
     *
     * # Errors
     * Throws a `KbError`: `kb::model_mismatch` for a vector of another length than the knowledge base's.
     */
    know(question: string, vector: Float32Array | number[]): void;
    /**
     * Whether `candidates` can do without a model for this question, see `know`.
     */
    knows(question: string): boolean;
    /**
     * Loads the model from the bytes of `model.onnx`, `tokenizer.json` and `model.json`.
     *
     * # Errors
     * Throws a `KbError`: `kb::model` if the files cannot be used, `kb::model_mismatch` if the
     * knowledge base was built with another model.
     */
    load(onnx: Uint8Array | number[], tokenizer: Uint8Array | number[], modelJson: string): void;
    /**
     * An encoder for the knowledge base with this `manifest.json`; it still needs the sections
     * `vectors` and, where there is one, `graph`, and the model.
     *
     * # Errors
     * Throws a `KbError` for a manifest that cannot be used.
     */
    constructor(manifest: Uint8Array | number[]);
    /**
     * Takes the model that another knowledge base has loaded, in place of `load`. It is in memory once.
     *
     * # Errors
     * Throws a `KbError`: `kb::missing` if the other one has none, `kb::model_mismatch` if this knowledge base was
     * built with another model.
     */
    share(other: Encoder): void;
    /**
     * The cosine of a question and each of these texts, for example the sentences of a passage.
     *
     * # Errors
     * Throws a `KbError`: `kb::missing` before `load`.
     */
    similarities(question: string, texts: string[]): Float32Array;
}

/**
 * Runs when the module is instantiated: a panic stops WebAssembly with a bare `unreachable`, so where
 * it happened goes to the console first.
 */
export function start(): void;

export type InitInput = RequestInfo | URL | Response | BufferSource | WebAssembly.Module;

export interface InitOutput {
    readonly memory: WebAssembly.Memory;
    readonly __wbg_encoder_free: (a: number, b: number) => void;
    readonly encoder_addSection: (a: number, b: number, c: number, d: number, e: number) => [number, number];
    readonly encoder_candidates: (a: number, b: number, c: number, d: number, e: number, f: number, g: number) => [number, number, number];
    readonly encoder_embed: (a: number, b: number, c: number) => [number, number, number];
    readonly encoder_know: (a: number, b: number, c: number, d: number, e: number) => [number, number];
    readonly encoder_knows: (a: number, b: number, c: number) => number;
    readonly encoder_load: (a: number, b: number, c: number, d: number, e: number, f: number, g: number) => [number, number];
    readonly encoder_new: (a: number, b: number) => [number, number, number];
    readonly encoder_share: (a: number, b: number) => [number, number];
    readonly encoder_similarities: (a: number, b: number, c: number, d: number, e: number) => [number, number, number];
    readonly start: () => void;
    readonly __wbindgen_malloc_command_export: (a: number, b: number) => number;
    readonly __wbindgen_realloc_command_export: (a: number, b: number, c: number, d: number) => number;
    readonly __wbindgen_free_command_export: (a: number, b: number, c: number) => void;
    readonly __wbindgen_exn_store_command_export: (a: number) => void;
    readonly __externref_table_alloc_command_export: () => number;
    readonly __wbindgen_externrefs: WebAssembly.Table;
    readonly __externref_table_dealloc_command_export: (a: number) => void;
    readonly __externref_drop_slice_command_export: (a: number, b: number) => void;
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
