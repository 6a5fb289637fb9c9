//! How much of what was found goes into an answer.

use kb_core::answer::{MAX_PASSAGES, Passage};
use kb_core::bundle::AnswerLimits;

/// The most that an answer may rest on; the model's window limits it further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Passages, 1 to [`MAX_PASSAGES`].
    pub passages: usize,
    /// Characters of all passages together.
    pub chars: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { passages: MAX_PASSAGES, chars: usize::MAX }
    }
}

impl Budget {
    /// Within these limits, which are checked.
    pub fn of_limits(limits: AnswerLimits) -> Self {
        let size = |n: Option<u32>, most| n.map_or(most, |n| n as usize);
        Self { passages: size(limits.passages, MAX_PASSAGES), chars: size(limits.context, usize::MAX) }
    }

    /// The passages that fit, in their order. What does not is left out; only the best one is cut instead.
    pub fn of(&self, passages: &[Passage]) -> Vec<Passage> {
        let mut left = self.chars;
        let mut taken: Vec<Passage> = Vec::new();
        for passage in passages.iter().take(self.passages) {
            let chars = passage.text.chars().count();
            if chars <= left {
                taken.push(passage.clone());
            } else if taken.is_empty() {
                taken.push(Passage { text: passage.text.chars().take(left).collect(), ..passage.clone() });
            }
            left = left.saturating_sub(chars);
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_kept_by_leaving_out() {
        let all: Vec<Passage> =
            ["一二三四五", "abc", "xyz", "u"].map(|t| Passage { text: t.into(), ..Passage::default() }).to_vec();
        let texts = |passages, chars| -> Vec<String> {
            Budget { passages, chars }.of(&all).into_iter().map(|p| p.text).collect()
        };
        assert_eq!(texts(3, 100), ["一二三四五", "abc", "xyz"]);
        assert_eq!(texts(5, 8), ["一二三四五", "abc"]);
        assert_eq!(texts(5, 2), ["一二"]);
        assert_eq!(Budget::default().of(&all).len(), 4);
    }
}
