//! How much of what was found an answer may rest on.

use super::passage::{MAX_PASSAGES, Passage};
use serde::{Deserialize, Serialize};

/// What the author of a base allows, where that is less than there is room for; the model's window limits it further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnswerLimits {
    /// Most passages, 1 to [`MAX_PASSAGES`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passages: Option<u32>,
    /// Most characters of all passages together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<u32>,
}

impl AnswerLimits {
    /// These, and where they say nothing, `below`.
    pub fn or(self, below: Self) -> Self {
        Self { passages: self.passages.or(below.passages), context: self.context.or(below.context) }
    }

    /// The passages that fit, in their order. What does not is left out; only the best one is cut instead.
    pub fn of(&self, passages: &[Passage]) -> Vec<Passage> {
        let mut left = self.context.map_or(usize::MAX, |n| n as usize);
        let mut taken: Vec<Passage> = Vec::new();
        for passage in passages.iter().take(self.passages.map_or(MAX_PASSAGES, |n| n as usize)) {
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
    fn limits_are_kept_by_leaving_out() {
        let all: Vec<Passage> =
            ["一二三四五", "abc", "xyz", "u"].map(|t| Passage { text: t.into(), ..Passage::default() }).to_vec();
        let texts = |passages, context| -> Vec<String> {
            let limits = AnswerLimits { passages: Some(passages), context: Some(context) };
            limits.of(&all).into_iter().map(|p| p.text).collect()
        };
        assert_eq!(texts(3, 100), ["一二三四五", "abc", "xyz"]);
        assert_eq!(texts(5, 8), ["一二三四五", "abc"]);
        assert_eq!(texts(5, 2), ["一二"]);
        assert_eq!(AnswerLimits::default().of(&all).len(), 4);
        let own = AnswerLimits { passages: Some(2), context: None };
        let below = AnswerLimits { passages: Some(4), context: Some(900) };
        assert_eq!(own.or(below), AnswerLimits { passages: Some(2), context: Some(900) });
    }
}
