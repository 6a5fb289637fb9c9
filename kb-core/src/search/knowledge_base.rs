//! A loaded bundle that answers.

use super::duplicates::Seen;
use super::excerpt::{MarkTerm, excerpt};
use super::facet::{Facet, count, tags};
use super::filter::{admits_kind, is_about_passages, matches};
use super::fusion::{CANDIDATES, Fused, Lists, fuse, speaks, vector_candidates};
use super::fusion::{Part, PartName, sum};
use super::options::RetrievalOptions;
use super::understand::{Plan, Synonyms};
use super::{ChunkSet, Excerpt, Explanation, Filter, Hit, Mode, Query, Response, Understanding, VectorHit, phrase};
use crate::bundle::identify_missing;
use crate::chunk::{Chunk, ChunkId, ChunkKind, opening_headings, plain_passage, title_path};
use crate::document::{Document, Lang, Section, lang};
use crate::index::lexical::{LexicalIndex, Lookup, Scored, Scores};
use crate::text::{query_terms, quoted};
use crate::{Error, ErrorKind, Result};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// Longest question in bytes that is looked at, some 4,000 Chinese characters; the rest of a longer one is
/// ignored. No model reads more.
const MAX_QUERY_BYTES: usize = 12_000;
/// Most words of a question that are looked up, the rarest ones.
const MAX_WORDS: usize = 256;
/// How many terms of a question are marked in excerpts; a long paste has more.
const MAX_MARKED_TERMS: usize = 200;
/// Scores that differ by less than this are equal, so that every machine gives the same order.
const SCORE_STEP: f32 = 1e-4;

/// Words of a question with those that are looked up for them.
type Found = Vec<(String, Vec<String>)>;

/// Documents, passages and the word index.
#[derive(Debug)]
pub struct KnowledgeBase {
    documents: Vec<Document>,
    chunks: Vec<Chunk>,
    lexical: LexicalIndex,
    options: RetrievalOptions,
    synonyms: Synonyms,
    /// The sorts of passages that there are, in their order.
    kinds: Vec<ChunkKind>,
}

/// An answer and how it came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    /// The answer.
    pub response: Response,
    /// One for each hit, in their order.
    pub explanations: Vec<Explanation>,
    /// What was understood of the query.
    pub understanding: Understanding,
    /// How many documents with a candidate have which language, collection and tag.
    pub facets: Vec<Facet>,
}

/// Whether [`KnowledgeBase::explain`] fills in more than the response.
pub(super) const EXPLAINS: bool = cfg!(any(feature = "build", test));

impl KnowledgeBase {
    /// Puts the parts of a bundle together. The text of a document may be empty still and follow with
    /// [`Self::add_texts`]; until then its passages are found, but have no excerpt.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] if a passage names a document, section or range that is not there, or the
    /// index is about another number of passages.
    pub fn new(documents: Vec<Document>, chunks: Vec<Chunk>, lexical: LexicalIndex) -> Result<Self> {
        let corrupt = |what: String| Err(Error::new(ErrorKind::Corrupt, what));
        if chunks.len() != lexical.len() {
            return corrupt(format!("{} passages, but the lexical index has {}", chunks.len(), lexical.len()));
        }
        for document in &documents {
            if let Some(i) = document.sections.iter().enumerate().position(|(i, s)| s.parent.is_some_and(|p| p >= i)) {
                return corrupt(format!("section {i} of {} is not inside its parent", document.path));
            }
            if !document.text.is_empty() {
                check_sections(document, &document.text)?;
            }
        }
        for chunk in &chunks {
            let document = documents.get(chunk.doc as usize);
            let has_section = |d: &Document| chunk.section.is_none_or(|s| (s as usize) < d.sections.len());
            let Some(document) = document.filter(|d| has_section(d)) else {
                return corrupt(format!("passage {} names a document or section that is not there", chunk.id));
            };
            if !document.text.is_empty() {
                check_passage(chunk, &document.text)?;
            }
        }
        let kinds: BTreeSet<ChunkKind> = chunks.iter().map(|c| c.kind).collect();
        Ok(Self {
            documents,
            chunks,
            lexical,
            options: RetrievalOptions::default(),
            synonyms: Synonyms::default(),
            kinds: kinds.into_iter().collect(),
        })
    }

    /// All documents, in the order of the bundle.
    pub fn documents(&self) -> &[Document] {
        &self.documents
    }

    /// Whether the text of `document` is there.
    pub fn has_text(&self, document: u32) -> bool {
        let Some(found) = self.documents.get(document as usize) else { return false };
        // A document in which nothing stands has no text that could be missing.
        !found.text.is_empty() || (found.sections.is_empty() && self.chunks.iter().all(|c| c.doc != document))
    }

    /// Adds the texts of a run of documents that begins with index `first`.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] if there are no such documents, or a section or passage does not start and
    /// end between characters of its text; nothing has been added then.
    pub fn add_texts(&mut self, first: u32, texts: &[&str]) -> Result<()> {
        let run = first as usize..(first as usize).saturating_add(texts.len());
        let Some(documents) = self.documents.get(run.clone()) else {
            let what = format!("texts {} to {} came for {} documents", run.start, run.end, self.documents.len());
            return Err(Error::new(ErrorKind::Corrupt, what));
        };
        for (document, text) in documents.iter().zip(texts) {
            check_sections(document, text)?;
        }
        for chunk in self.chunks.iter().filter(|c| run.contains(&(c.doc as usize))) {
            check_passage(chunk, texts[chunk.doc as usize - run.start])?;
        }
        let (first, end) = (run.start, run.end);
        for (document, text) in self.documents[run].iter_mut().zip(texts) {
            document.text = (*text).to_owned();
        }
        identify_missing(&self.documents[..end], &mut self.chunks, first);
        Ok(())
    }

    /// All passages, in the order of the bundle.
    pub fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// The word index.
    pub fn lexical_index(&self) -> &LexicalIndex {
        &self.lexical
    }

    /// The word index, to set its parameters.
    pub fn lexical_index_mut(&mut self) -> &mut LexicalIndex {
        &mut self.lexical
    }

    /// Ranks in another way from now on.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for a setting out of range.
    pub fn set_options(&mut self, options: RetrievalOptions) -> Result<()> {
        options.check()?;
        self.options = options;
        Ok(())
    }

    /// Looks words up with an author's list of synonyms beside the program's own from now on.
    ///
    /// # Errors
    /// Those of [`Synonyms::with`].
    pub fn set_synonyms(&mut self, list: &str) -> Result<()> {
        self.synonyms = Synonyms::with(list)?;
        Ok(())
    }

    /// How it ranks.
    pub fn options(&self) -> RetrievalOptions {
        self.options
    }

    /// The language that a question is taken to be in, for [`VectorIndex::search_as`].
    ///
    /// [`VectorIndex::search_as`]: crate::index::vector::VectorIndex::search_as
    pub fn language_of(question: &str) -> Lang {
        lang::detect(beginning(question, MAX_QUERY_BYTES))
    }

    /// Names of the collections that have documents, sorted.
    pub fn collections(&self) -> Vec<&str> {
        let names: BTreeSet<&str> = self.documents.iter().map(|d| d.collection.as_str()).collect();
        names.into_iter().collect()
    }

    /// The passages that the query's collections and filters admit; `None` if it has neither, and so
    /// all are.
    pub fn allowed(&self, query: &Query) -> Option<ChunkSet> {
        if query.collections.is_empty() && query.filters.is_empty() {
            return None;
        }
        let (of_passages, of_documents): (Vec<Filter>, Vec<Filter>) =
            query.filters.iter().cloned().partition(is_about_passages);
        let documents: Vec<bool> =
            self.documents.iter().map(|d| matches(d, &query.collections, &of_documents)).collect();
        let mut set = ChunkSet::new(self.chunks.len());
        for (i, chunk) in self.chunks.iter().enumerate() {
            let Some(document) = self.documents.get(chunk.doc as usize) else { continue };
            if documents.get(chunk.doc as usize) == Some(&true) && admits_kind(chunk.kind, document, &of_passages) {
                set.insert(i as u32);
            }
        }
        Some(set)
    }

    /// How many candidates the vectors should give for this query.
    pub fn candidates(&self, query: &Query) -> usize {
        self.options.candidates.unwrap_or_else(|| vector_candidates(self.chunks.len())).max(query.k)
    }

    /// Answers by words alone, whatever the query's mode is.
    ///
    /// # Errors
    /// As [`Self::search`].
    pub fn lexical(&self, query: &Query) -> Result<Response> {
        Ok(self.answer(query, Mode::Lexical, &[])?.response)
    }

    /// Answers a query. `vectors` are the candidates of the vector side, best first, as many as
    /// [`Self::candidates`] says and from [`Self::allowed`]; `None` if there is no model. Then a hybrid
    /// query is answered by words alone, and [`Response::mode`] says so.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for an empty question, a `k` out of range, or a vector query without
    /// vectors; [`ErrorKind::Corrupt`] if the index is damaged.
    pub fn search(&self, query: &Query, vectors: Option<&[VectorHit]>) -> Result<Response> {
        Ok(self.explain(query, vectors)?.response)
    }

    /// Answers a query as [`Self::search`] does, and says how. Without the feature `build` there is the response only:
    /// the page shows nothing of the rest, and would carry its code.
    ///
    /// # Errors
    /// As [`Self::search`].
    pub fn explain(&self, query: &Query, vectors: Option<&[VectorHit]>) -> Result<Explained> {
        match (query.mode, vectors) {
            (Mode::Vector, None) => {
                Err(Error::new(ErrorKind::InvalidInput, "a search by meaning needs the model, which is not loaded"))
            }
            (Mode::Lexical, _) | (Mode::Hybrid, None) => self.answer(query, Mode::Lexical, &[]),
            (mode, Some(vectors)) => self.answer(query, mode, vectors),
        }
    }

    fn answer(&self, query: &Query, mode: Mode, vectors: &[VectorHit]) -> Result<Explained> {
        if query.text.trim().is_empty() {
            return Err(Error::new(ErrorKind::InvalidInput, "the question is empty"));
        }
        if !(1..=100).contains(&query.k) {
            return Err(Error::new(ErrorKind::InvalidInput, "k must be 1 to 100"));
        }
        let text = beginning(&query.text, MAX_QUERY_BYTES);
        let mut allowed = self.allowed(query);
        let mut phrases = quoted(text);
        match phrase::holding(self, &phrases, allowed.as_ref())? {
            Some(holding) => allowed = Some(holding),
            // Where nothing holds them they are words like all others.
            None => phrases.clear(),
        }
        let vectors = self.admitted(vectors, allowed.as_ref());
        let plan = Plan::of(text, &self.synonyms, &self.kinds);
        let rewritten = plan.rewritten.as_deref().filter(|_| self.options.expand).unwrap_or(text);
        let (words, synonyms) = self.words(rewritten, query.unfinished)?;
        let found = match mode {
            // The words are only marked then; how rare they are does not matter.
            Mode::Vector => Scores { passages: Vec::new(), idf: vec![1.0; words.len()] },
            _ => self.lexical.scores(&words, allowed.as_ref())?,
        };
        let scores: Vec<(u32, f32)> = found.passages.iter().map(|s| (s.chunk, s.score)).collect();
        let best = self.best(&scores, self.options.candidates.unwrap_or(CANDIDATES).max(query.k));
        let lexical: Vec<Scored> = best.iter().filter_map(|i| found.passages.get(*i)).copied().collect();
        let across = self.lacks(Self::language_of(text), allowed.as_ref());
        let lists = Lists { lexical: &lexical, vector: &vectors, scored: &found.passages, across };
        let mut fused = fuse(&lists, &self.options, mode);
        if self.options.route {
            self.route(&mut fused, &plan.kinds);
        }
        if let Some(least) = self.options.min_score {
            fused.retain(|f| f.score >= least);
        }
        let marked: Vec<MarkTerm> = (words.iter().zip(&found.idf))
            .flat_map(|(word, idf)| word.forms.iter().map(|(term, _)| MarkTerm { term: term.clone(), weight: *idf }))
            .take(MAX_MARKED_TERMS)
            .collect();
        let (mut hits, mut explanations) = (Vec::new(), Vec::<Explanation>::new());
        for (f, folded) in self.chosen(&fused, query) {
            if let Some(hit) = self.hit(hits.len() + 1, f, &marked) {
                hits.push(hit);
                if EXPLAINS {
                    explanations.push(f.explanation(folded));
                }
            }
        }
        let passages =
            fused.iter().filter_map(|f| Some((self.document_of(f.chunk)?, self.chunks.get(f.chunk as usize)?.kind)));
        let facets = if EXPLAINS { count(passages) } else { Vec::new() };
        let response = Response {
            hits,
            mode,
            lexical_candidates: found.passages.len(),
            vector_candidates: vectors.len(),
            coverage: lexical.iter().map(|s| s.matched).fold(0.0, f32::max),
            unknown: if mode == Mode::Vector { 0.0 } else { self.unknown(&words, &found.idf) },
        };
        if !EXPLAINS {
            return Ok(Explained { response, explanations, understanding: Understanding::default(), facets });
        }
        let understanding = Understanding {
            lang: Self::language_of(text).code().to_owned(),
            terms: words.iter().filter_map(|w| w.forms.first()).map(|(term, _)| term.clone()).collect(),
            corrected: words.iter().filter(|w| w.corrected).filter_map(Lookup::correction).collect(),
            phrases: phrases.into_iter().map(str::to_owned).collect(),
            plan,
            synonyms,
        };
        Ok(Explained { response, explanations, understanding, facets })
    }

    /// The documents' tags and how many documents have each, the most frequent first, 50 at most.
    pub fn tags(&self) -> Vec<(String, usize)> {
        tags(&self.documents)
    }

    /// Whether the admitted passages hardly speak `lang`, which must be one that can be told.
    fn lacks(&self, lang: Lang, allowed: Option<&ChunkSet>) -> bool {
        let (mut own, mut all) = (0, 0);
        for i in (0..self.chunks.len() as u32).filter(|i| allowed.is_none_or(|set| set.contains(*i))) {
            all += 1;
            own += usize::from(self.document_of(i).is_some_and(|d| d.lang == lang));
        }
        lang != Lang::Other && !speaks(own, all)
    }

    /// The vectors' candidates that may be hits, each once.
    fn admitted(&self, vectors: &[VectorHit], allowed: Option<&ChunkSet>) -> Vec<VectorHit> {
        let least = self.options.max_distance.map_or(f32::NEG_INFINITY, |d| 1.0 - d);
        let mut known = ChunkSet::new(self.chunks.len());
        let mut candidates: Vec<VectorHit> = Vec::new();
        for hit in vectors.iter().filter(|v| v.score.is_finite() && v.score >= least) {
            let admitted =
                (hit.chunk as usize) < self.chunks.len() && allowed.is_none_or(|set| set.contains(hit.chunk));
            if admitted && !known.contains(hit.chunk) {
                known.insert(hit.chunk);
                candidates.push(*hit);
            }
        }
        candidates
    }

    /// The share of the words, by rarity, that no passage has as they are written.
    fn unknown(&self, words: &[Lookup], idf: &[f32]) -> f32 {
        let rarest = self.lexical.idf(0);
        let (mut unknown, mut total) = (0.0, 0.0);
        for (word, idf) in words.iter().zip(idf) {
            total += word.weight * idf;
            unknown += if *idf >= rarest || word.corrected { word.weight * idf } else { 0.0 };
        }
        if total > 0.0 { unknown / total } else { 0.0 }
    }

    /// Puts passages of the sorts `kinds` before all others: no score is as much as 2 higher than another.
    fn route(&self, fused: &mut [Fused], kinds: &[ChunkKind]) {
        let most = fused.iter().map(|f| f.score).fold(0.0, f32::max);
        for f in fused {
            if self.chunks.get(f.chunk as usize).is_some_and(|c| kinds.contains(&c.kind)) {
                f.parts.push(Part { name: PartName::Route, value: 1.0, weight: most.max(1.0) });
                f.score = sum(&f.parts);
            }
        }
    }

    /// What to look up besides the words of `text`: for each word of the list of synonyms that no passage has, the
    /// other words for the same thing.
    fn synonyms_of(&self, text: &str) -> Result<Found> {
        let mut found = Vec::new();
        for (word, others) in self.synonyms.alternatives(text) {
            if self.is_known(word)? {
                continue;
            }
            let mut known = Vec::new();
            for other in others {
                if self.is_known(other)? {
                    known.push(other.to_owned());
                }
            }
            if !known.is_empty() {
                found.push((word.to_owned(), known));
            }
        }
        Ok(found)
    }

    /// Whether some passage has each term of `word`.
    fn is_known(&self, word: &str) -> Result<bool> {
        for term in query_terms(word) {
            if self.lexical.lacks(&term.term)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What is looked up for a question, and the synonyms among it.
    fn words(&self, text: &str, unfinished: bool) -> Result<(Vec<Lookup>, Found)> {
        let synonyms = if self.options.expand { self.synonyms_of(text)? } else { Vec::new() };
        // What is known stands for what is not, so that the share of the words that a passage has stays what it
        // says.
        let mut asked = text.to_owned();
        for (word, others) in &synonyms {
            asked = Synonyms::replace(&asked, word, &others.join(" "));
        }
        let mut terms = query_terms(&asked);
        if terms.len() > MAX_WORDS {
            let mut counts = Vec::with_capacity(terms.len());
            for (i, term) in terms.iter().enumerate() {
                let count = self.lexical.posting_count(&term.term)?;
                // What no passage has says nothing.
                counts.push((if count == 0 { u32::MAX } else { count }, i));
            }
            counts.sort_unstable();
            let mut kept: Vec<usize> = counts.into_iter().take(MAX_WORDS).map(|(_, i)| i).collect();
            kept.sort_unstable();
            terms = kept.into_iter().map(|i| terms[i].clone()).collect();
        }
        Ok((self.lexical.lookups(&terms, unfinished)?, synonyms))
    }

    /// The hits among the candidates, best first, each with the passages that say nearly the same.
    fn chosen<'f>(&self, fused: &'f [Fused], query: &Query) -> Vec<(&'f Fused, Vec<u32>)> {
        let scores: Vec<(u32, f32)> = fused.iter().map(|f| (f.chunk, f.score)).collect();
        let mut chosen: Vec<(&Fused, Vec<u32>)> = Vec::new();
        let mut seen = Seen::default();
        let mut of_document: BTreeMap<u32, usize> = BTreeMap::new();
        for f in self.best(&scores, fused.len()).into_iter().filter_map(|i| fused.get(i)) {
            if chosen.len() == query.k {
                break;
            }
            if let (Some(most), Some(chunk)) = (self.options.per_document, self.chunks.get(f.chunk as usize)) {
                let taken = of_document.entry(chunk.doc).or_default();
                if *taken == most {
                    continue;
                }
                *taken += 1;
            }
            let same = if query.keep_duplicates { None } else { seen.same_as(self, f.chunk, chosen.len()) };
            match same.and_then(|at| chosen.get_mut(at)) {
                Some((_, folded)) => folded.push(f.chunk),
                None => chosen.push((f, Vec::new())),
            }
        }
        chosen
    }

    pub(super) fn document_of(&self, chunk: u32) -> Option<&Document> {
        self.documents.get(self.chunks.get(chunk as usize)?.doc as usize)
    }

    /// Places in `scores` of the `k` best by score, rounded; equal ones in the order of the bundle. Best first.
    fn best(&self, scores: &[(u32, f32)], k: usize) -> Vec<usize> {
        let mut heap = BinaryHeap::with_capacity(k.min(scores.len()) + 1);
        for (i, &(chunk, score)) in scores.iter().enumerate() {
            let steps = (score / SCORE_STEP).round() as i64;
            heap.push((Reverse(steps), chunk, i));
            if heap.len() > k {
                heap.pop();
            }
        }
        heap.into_sorted_vec().into_iter().map(|(.., i)| i).collect()
    }

    fn hit(&self, rank: usize, fused: &Fused, terms: &[MarkTerm]) -> Option<Hit> {
        let chunk = self.chunks.get(fused.chunk as usize)?;
        let document = self.documents.get(chunk.doc as usize)?;
        let own = chunk.section.map(|s| s as usize);
        let (excerpt, section) = if self.has_text(chunk.doc) {
            shown(document, chunk, terms)
        } else {
            (Excerpt { text: String::new(), marks_bytes: Vec::new() }, own)
        };
        let anchor = section.and_then(|s| document.sections.get(s)).map_or(String::new(), |s| s.anchor.clone());
        Some(Hit {
            rank,
            score: fused.score,
            lexical_score: fused.lexical.filter(|_| fused.lexical_rank.is_some()).map(|s| s.score),
            vector_score: fused.vector,
            chunk_id: if chunk.id == ChunkId::UNKNOWN { String::new() } else { chunk.id.to_string() },
            chunk: fused.chunk,
            collection: document.collection.clone(),
            path: document.path.clone(),
            title: document.title.clone(),
            heading_path: section
                .map_or(Vec::new(), |s| document.heading_path(s).into_iter().map(str::to_owned).collect()),
            url: document.url.as_ref().map(|url| with_fragment(url, &anchor)),
            anchor,
            lang: document.lang.code().to_owned(),
            kind: chunk.kind,
            excerpt,
        })
    }
}

/// What to show of a passage, and the index of the section that it is in.
fn shown(document: &Document, chunk: &Chunk, terms: &[MarkTerm]) -> (Excerpt, Option<usize>) {
    let own = chunk.section.map(|s| s as usize);
    let body = plain_passage(document, chunk);
    // The headings are shown apart.
    let skipped = opening_headings(&body.text, &title_path(document, chunk));
    let (excerpt, focus) = excerpt(&body.text[skipped..], terms);
    // A passage can hold more than one short section: lead to the one that has the match.
    let focus = chunk.span_bytes.start as usize + body.source_offset(skipped + focus);
    let section = section_at(&document.sections, focus).filter(|s| own.is_none_or(|o| *s >= o)).or(own);
    (excerpt, section)
}

/// That every section of `document` starts and ends between characters of `text`.
fn check_sections(document: &Document, text: &str) -> Result<()> {
    match document.sections.iter().position(|s| text.get(s.span_bytes.clone()).is_none()) {
        Some(i) => Err(Error::new(ErrorKind::Corrupt, format!("section {i} of {} is not inside it", document.path))),
        None => Ok(()),
    }
}

/// That a passage starts and ends between characters of its document's text.
fn check_passage(chunk: &Chunk, text: &str) -> Result<()> {
    let range = chunk.span_bytes.start as usize..chunk.span_bytes.end as usize;
    match text.get(range) {
        Some(_) => Ok(()),
        None => Err(Error::new(ErrorKind::Corrupt, format!("passage {} is not inside its document", chunk.id))),
    }
}

/// Index of the last section that begins at or before `byte`.
fn section_at(sections: &[Section], byte: usize) -> Option<usize> {
    sections.partition_point(|s| s.span_bytes.start <= byte).checked_sub(1)
}

/// At most `bytes` bytes from the beginning of `text`, cut between characters.
fn beginning(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// `url#anchor`, with everything percent-encoded that RFC 3986 does not allow in a fragment.
fn with_fragment(url: &str, anchor: &str) -> String {
    let mut out = url.to_owned();
    if anchor.is_empty() {
        return out;
    }
    out.push('#');
    for &byte in anchor.as_bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(&byte) {
            out.push(char::from(byte));
        } else {
            const HEX: &[u8; 16] = b"0123456789ABCDEF";
            out.push('%');
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
    out
}

#[cfg(all(test, feature = "build"))]
#[path = "knowledge_base_tests.rs"]
mod tests;

#[cfg(all(test, feature = "build"))]
#[path = "late_text_tests.rs"]
mod late_text_tests;
