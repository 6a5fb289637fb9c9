/* tslint:disable */
/* eslint-disable */
/** Thrown by every function here. `code` is stable, for example `kb::corrupt`. */
export interface KbError extends Error {
    code: string;
    /** What to do next, in English. */
    hint: string;
}

/** Which lists answer: words and meaning fused, words alone, meaning alone. */
export type Mode = "hybrid" | "lexical" | "vector";

/** Conditions on one key are alternatives, conditions on different keys must all hold, turned-round ones must not. */
export interface Filter {
    /** `path` (a prefix), `lang`, `tag` or a metadata key; with `!` at its end the condition is turned round. */
    key: string;
    value: string;
}

export interface Query {
    text: string;
    /** Most hits to return, 1 to 100; 10 if left out. */
    k?: number;
    mode?: Mode;
    /** Only these collections; all if empty. */
    collections?: string[];
    filters?: Filter[];
    /** Whether the reader is still typing: the last word is then taken as the beginning of one. */
    unfinished?: boolean;
    /** Whether passages that say nearly the same as a better hit are hits as well. */
    keepDuplicates?: boolean;
}

/** A range of a string in UTF-16 units. */
export interface Span {
    start: number;
    end: number;
}

export interface Excerpt {
    /** Plain text; empty while the document's text is not loaded, see `Response.missing`. */
    text: string;
    /** What to mark, in order, not overlapping. */
    marks: Span[];
}

export interface Hit {
    /** 1 for the best. */
    rank: number;
    score: number;
    /** BM25 score, if the words matched. */
    lexicalScore?: number;
    /** Cosine, if the vectors proposed it. */
    vectorScore?: number;
    /** Stable id of the passage, 16 hex digits. */
    chunkId: string;
    collection: string;
    /** Path of the document in its collection. */
    path: string;
    title: string;
    /** Headings from the outermost to the passage's own. */
    headingPath: string[];
    /** Fragment identifier of the passage's heading, may be empty. */
    anchor: string;
    /** Where the source can be opened, fragment included. */
    url?: string;
    /** Language code of the document. */
    lang: string;
    /** What sort of passage it is: `text`, `concept`, `steps`, `parameters`, `warning`, `code`, `table`, … */
    kind: string;
    excerpt: Excerpt;
}

export interface Response {
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

export interface Section {
    kind: "docs" | "text" | "chunks" | "lexical" | "vectors" | "graph" | "terms";
    /** Name of the file beside the manifest. */
    file: string;
    bytes: number;
    /** SHA-256 of the file in hex. */
    sha256: string;
}

export interface CollectionInfo {
    name: string;
    documents: number;
    chunks: number;
}

export interface DocumentInfo {
    /** For `document()`. */
    index: number;
    collection: string;
    path: string;
    title: string;
    lang: string;
    url?: string;
}

export interface Info {
    title: string;
    /** Main language as a code, may be empty. */
    language: string;
    /** Changes whenever answers may change. */
    id: string;
    chunks: number;
    collections: CollectionInfo[];
    documents: DocumentInfo[];
    /** Name of the model that searching by meaning needs; none for a base without vectors. */
    model?: string;
    /** What the encoder module needs of this base. */
    vectorSections: Section[];
    /** What the author replaces of the words that a language model gets; for `Answer`. */
    templates?: TemplateChanges;
}

/** Words in place of those that come with the program; what is left out stays. */
export interface TemplateChange {
    system?: string;
    /** Holds `{passages}` and `{question}`. */
    user?: string;
    refusal?: string;
    rewrite?: string;
}

export interface TemplateChanges {
    /** For questions in Chinese. */
    zh?: TemplateChange;
    /** For all others. */
    en?: TemplateChange;
}

export interface Heading {
    /** 1 to 6. */
    level: number;
    title: string;
    anchor: string;
    /** UTF-16 range of the heading and what is under it, up to the next heading. */
    start: number;
    end: number;
}

export interface DocumentText {
    /** Markdown. */
    text: string;
    sections: Heading[];
}

/** Passages near a question, best first: indexes of chunks and their cosines. */
export interface Candidates {
    ids: Uint32Array;
    scores: Float32Array;
}

/** A passage that an answer may rest on. */
export interface Passage {
    chunkId: string;
    collection: string;
    path: string;
    title: string;
    headingPath: string[];
    anchor: string;
    /** Markdown. */
    text: string;
}

/** A piece of an answer: Markdown as it was written, or a citation: `n` is its number, `passage` an index from 0. */
export type Segment = { kind: "text"; text: string } | { kind: "citation"; n: number; passage: number };

/** Whether a knowledge base has anything to say about a question. */
export interface Relevance {
    /** 0 to 1. */
    score: number;
    relevant: boolean;
}

export interface Message {
    role: "system" | "user" | "assistant";
    content: string;
}

export interface Turn {
    question: string;
    answer: string;
}

export interface Prompt {
    messages: Message[];
    /** The passages that had room, numbered from 1 in this order; the last may be cut. */
    passages: Passage[];
    /** The sentence that says that nothing was found. */
    refusal: string;
    estimatedTokens: number;
}

/** How far a sentence of an answer is backed by what it cites. `start` and `end` are UTF-16 offsets in the answer without citations. */
export interface SentenceSupport {
    start: number;
    end: number;
    verdict: "supported" | "weak" | "uncited" | "unknown" | "noclaim";
}

/** A sentence whose words do not say whether a passage backs it. */
export interface Doubt {
    sentence: string;
    /** Index of a passage that it cites. */
    passage: number;
}

export interface Checked {
    sentences: SentenceSupport[];
    /** The smaller of the search's relevance and the share of the answer that is backed, 0 to 1. */
    confidence: number;
    /** Whether the answer says that nothing was found. */
    refused: boolean;
}

export interface ProviderInfo {
    name: "ollama" | "deepseek" | "openai-compatible";
    /** Where it is unless the reader says otherwise; empty if it has to be said. */
    baseUrl: string;
}

/** How to reach a language model. */
export interface ChatSettings {
    provider: ProviderInfo["name"];
    /** The provider's own address if empty. */
    baseUrl: string;
    model: string;
    /** Sent to this address only, as a bearer token. */
    key: string;
    maxTokens: number;
    /** The model's window in tokens. */
    numCtx: number;
    temperature: number;
    keepAlive: string;
    /** The language of the sentences in errors: `zh`, or English. */
    lang: string;
}

/** What arrives while a model writes. */
export type ReplyEvent =
| Segment
| { kind: "reasoning"; text: string }
/** All text so far was the model thinking aloud. */
| { kind: "restart" }
/** The connection lives, but nothing was said. */
| { kind: "waiting" };

export interface ReplyEnd {
    promptTokens: number;
    completionTokens: number;
    reason: "stop" | "length" | "filtered" | "interrupted";
    /** Citations that named no passage and were taken out. */
    unresolved: number;
    /** Whether the server has cut the beginning of the prompt off. */
    cut: boolean;
}

/** Thrown by `Chat`: `code` is `llm::…`, `message` what to do in the reader's language. */
export interface ChatError extends Error {
    code: string;
    /** HTTP status, where there was one. */
    status?: number;
    /** Whether the same request may succeed a little later. */
    mayPass: boolean;
}

/** What to POST to an embedding service. */
export interface ServiceRequest {
    url: string;
    /** JSON. */
    body: string;
}



/**
 * A knowledge base: first its parts are added, then it answers.
 */
export class KnowledgeBase {
    free(): void;
    [Symbol.dispose](): void;
    /**
     * Takes the bytes of a section file: `docs`, `chunks` and `lexical` before `finish`, `text` before or
     * after it, `terms` after it.
     *
     * # Errors
     * Throws a `KbError`: `kb::corrupt` for bytes that are not that file, `kb::invalid_input` for a name
     * that the manifest does not know.
     */
    addSection(file: string, bytes: Uint8Array | number[]): void;
    /**
     * The passages that the query's collections and filters admit, one bit a passage, lowest first;
     * nothing if all are.
     *
     * # Errors
     * Throws a `KbError` for a query of the wrong shape, or before `finish`.
     */
    allowed(query: Query): Uint8Array | undefined;
    /**
     * How many candidates `Encoder.candidates` should give for a query.
     *
     * # Errors
     * Throws a `KbError` for a query of the wrong shape, or before `finish`.
     */
    candidateCount(query: Query): number;
    /**
     * The text of a document and its headings.
     *
     * # Errors
     * Throws a `KbError`: `kb::invalid_input` if there is no such document, `kb::missing` if its text
     * has not been added.
     */
    document(document: number): DocumentText;
    /**
     * Puts the parts together; from here on it answers.
     *
     * # Errors
     * Throws a `KbError`: `kb::missing` without `docs`, `chunks` or `lexical`, `kb::corrupt` for parts
     * that are damaged or do not belong together.
     */
    finish(): void;
    /**
     * What the knowledge base says of itself.
     *
     * # Errors
     * Throws a `KbError`: `kb::missing` before `finish`.
     */
    info(): Info;
    /**
     * The section file that holds a document's text and has not been added; nothing if the text is
     * there.
     *
     * # Errors
     * Throws a `KbError`: `kb::missing` before `finish`.
     */
    missingText(document: number): string | undefined;
    /**
     * The knowledge base with this `manifest.json`. `sections` says what it consists of.
     *
     * # Errors
     * Throws a `KbError`: `kb::not_a_bundle`, `kb::newer_format`, `kb::corrupt`, `kb::too_large`.
     */
    constructor(manifest: Uint8Array | number[]);
    /**
     * The range of a passage in the text of its document, by its id; nothing if the document has no such
     * passage.
     *
     * # Errors
     * Throws a `KbError`: `kb::invalid_input` if there is no such document, `kb::missing` if its text
     * has not been added.
     */
    passage(document: number, chunkId: string): Span | undefined;
    /**
     * Answers a query: by words, or by words and meaning together with what `Encoder.candidates` gave.
     *
     * # Errors
     * Throws a `KbError`: `kb::invalid_input` for an empty question, `k` out of range or lists of
     * unequal length; `kb::missing` before `finish`.
     */
    search(query: Query, ids?: Uint32Array | number[] | null, scores?: Float32Array | number[] | null): Response;
    /**
     * The section files that the manifest names.
     *
     * # Errors
     * None; the type comes from the serialiser.
     */
    sections(): Section[];
    /**
     * Which of the `terms` sections, counted from 0, the last search would have read and have not come: what it found is
     * not all. When they are added, the same search may want others; when it wants none, its result is final.
     */
    wantedTerms(): Uint32Array;
    /**
     * Whether `finish` has succeeded.
     */
    readonly ready: boolean;
}

/**
 * Runs when the module is instantiated: a panic stops WebAssembly with a bare `unreachable`, so where
 * it happened goes to the console first.
 */
export function start(): void;

export type InitInput = RequestInfo | URL | Response | BufferSource | WebAssembly.Module;

export interface InitOutput {
    readonly memory: WebAssembly.Memory;
    readonly __wbg_knowledgebase_free: (a: number, b: number) => void;
    readonly knowledgebase_addSection: (a: number, b: number, c: number, d: number, e: number) => [number, number];
    readonly knowledgebase_allowed: (a: number, b: any) => [number, number, number];
    readonly knowledgebase_candidateCount: (a: number, b: any) => [number, number, number];
    readonly knowledgebase_document: (a: number, b: number) => [number, number, number];
    readonly knowledgebase_finish: (a: number) => [number, number];
    readonly knowledgebase_info: (a: number) => [number, number, number];
    readonly knowledgebase_missingText: (a: number, b: number) => [number, number, number, number];
    readonly knowledgebase_new: (a: number, b: number) => [number, number, number];
    readonly knowledgebase_passage: (a: number, b: number, c: number, d: number) => [number, number, number];
    readonly knowledgebase_ready: (a: number) => number;
    readonly knowledgebase_search: (a: number, b: any, c: number, d: number, e: number, f: number) => [number, number, number];
    readonly knowledgebase_sections: (a: number) => [number, number, number];
    readonly knowledgebase_wantedTerms: (a: number) => [number, number];
    readonly start: () => void;
    readonly __wbindgen_malloc: (a: number, b: number) => number;
    readonly __wbindgen_realloc: (a: number, b: number, c: number, d: number) => number;
    readonly __wbindgen_free: (a: number, b: number, c: number) => void;
    readonly __wbindgen_exn_store: (a: number) => void;
    readonly __externref_table_alloc: () => number;
    readonly __wbindgen_externrefs: WebAssembly.Table;
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
