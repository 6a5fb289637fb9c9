//! Words that say little about what a question is about.

/// English function words, as they come out of the tokeniser (folded and stemmed), sorted: the list of
/// Lucene's EnglishAnalyzer with the forms of to be, to do and the question words.
const ENGLISH: [&str; 58] = [
    "a", "about", "an", "and", "ani", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did", "do", "doe",
    "does", "for", "from", "had", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "me", "my", "no",
    "not", "of", "on", "or", "should", "so", "such", "that", "the", "their", "then", "there", "these", "they", "this",
    "to", "was", "what", "when", "which", "will", "with", "would", "you",
];

/// Whether `term` is an English function word.
pub(crate) fn is_stop_word(term: &str) -> bool {
    ENGLISH.binary_search(&term).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_is_sorted_so_that_it_can_be_searched() {
        assert!(ENGLISH.is_sorted());
        assert!(is_stop_word("the") && is_stop_word("what") && !is_stop_word("matrix"));
    }
}
