//! Replies in the shapes that servers send, written down from their documentation and from real runs of
//! llama.cpp, Ollama and DeepSeek, with what they say.

use super::{EndReason, Event, FailureKind, Usage};
use crate::answer::request::Protocol;

/// A reply and what it must be read as, neighbouring pieces of text joined.
pub(super) struct Recorded {
    pub name: &'static str,
    pub protocol: Protocol,
    pub bytes: &'static [u8],
    pub reasoning: &'static str,
    pub text: &'static str,
    pub usage: Option<(u32, u32)>,
    pub end: Result<EndReason, FailureKind>,
}

impl Recorded {
    pub fn usage_event(&self) -> Option<Event> {
        self.usage.map(|(prompt_tokens, completion_tokens)| Event::Usage(Usage { prompt_tokens, completion_tokens }))
    }
}

const fn reply(
    name: &'static str,
    protocol: Protocol,
    bytes: &'static str,
    said: (&'static str, &'static str),
    usage: Option<(u32, u32)>,
    end: Result<EndReason, FailureKind>,
) -> Recorded {
    Recorded { name, protocol, bytes: bytes.as_bytes(), reasoning: said.0, text: said.1, usage, end }
}

use EndReason::{Interrupted, Length, Stop};
use Protocol::{Ollama, OpenAi};

pub(super) const RECORDED: [Recorded; 22] = [
    reply(
        "ollama",
        Ollama,
        "{\"model\":\"qwen3\",\"created_at\":\"2026-01-01T00:00:00Z\",\"message\":{\"role\":\"assistant\",\"content\":\"最短路\"},\"done\":false}\n\
         {\"model\":\"qwen3\",\"created_at\":\"2026-01-01T00:00:00Z\",\"message\":{\"role\":\"assistant\",\"content\":\" [1]。\"},\"done\":false}\n\
         {\"model\":\"qwen3\",\"created_at\":\"2026-01-01T00:00:01Z\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\",\"total_duration\":4883583458,\"prompt_eval_count\":26,\"eval_count\":298}\n",
        ("", "最短路 [1]。"),
        Some((26, 298)),
        Ok(Stop),
    ),
    reply(
        "ollama thinking",
        Ollama,
        "{\"message\":{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"Let me \"},\"done\":false}\n\
         {\"message\":{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"see.\"},\"done\":false}\n\
         {\"message\":{\"role\":\"assistant\",\"content\":\"Yes\"},\"done\":false}\n\
         {\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"length\",\"prompt_eval_count\":5,\"eval_count\":9}\n",
        ("Let me see.", "Yes"),
        Some((5, 9)),
        Ok(Length),
    ),
    reply(
        "ollama error in the middle",
        Ollama,
        "{\"message\":{\"role\":\"assistant\",\"content\":\"Half\"},\"done\":false}\n{\"error\":\"an error was encountered while running the model\"}\n{\"message\":{\"content\":\"never\"},\"done\":false}\n",
        ("", "Half"),
        None,
        Err(FailureKind::InReply),
    ),
    reply(
        "ollama cut off",
        Ollama,
        "{\"message\":{\"role\":\"assistant\",\"content\":\"Half\"},\"done\":false}\n{\"message\":{\"role\":\"assist",
        ("", "Half"),
        None,
        Ok(Interrupted),
    ),
    reply(
        "ollama think tags",
        Ollama,
        "{\"message\":{\"content\":\"<th\"},\"done\":false}\n{\"message\":{\"content\":\"ink>\\nhm <b\"},\"done\":false}\n\
         {\"message\":{\"content\":\"> hm</thi\"},\"done\":false}\n{\"message\":{\"content\":\"nk>\\n\\nAn\"},\"done\":false}\n\
         {\"message\":{\"content\":\"swer < 3\"},\"done\":true,\"done_reason\":\"stop\"}\n",
        ("\nhm <b> hm", "Answer < 3"),
        None,
        Ok(Stop),
    ),
    reply(
        "deepseek with keep-alive, reasoning and a return before each line end",
        OpenAi,
        ": keep-alive\r\n\r\n: keep-alive\r\n\r\n\
         data: {\"id\":\"a\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":null,\"reasoning_content\":\"用户\"},\"finish_reason\":null}]}\r\n\r\n\
         data: {\"id\":\"a\",\"choices\":[{\"index\":0,\"delta\":{\"content\":null,\"reasoning_content\":\"问\"},\"finish_reason\":null}]}\r\n\r\n\
         : keep-alive\r\n\r\n\
         data: {\"id\":\"a\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"答案\",\"reasoning_content\":null},\"finish_reason\":null}]}\r\n\r\n\
         data: {\"id\":\"a\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\",\"reasoning_content\":null},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":17,\"completion_tokens\":9,\"total_tokens\":26}}\r\n\r\n\
         data: [DONE]\r\n\r\n",
        ("用户问", "答案"),
        Some((17, 9)),
        Ok(Stop),
    ),
    reply(
        "llama.cpp: usage in a piece of its own",
        OpenAi,
        "data: {\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":null}}],\"created\":1,\"object\":\"chat.completion.chunk\"}\n\n\
         data: {\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":{\"content\":\"The\"}}]}\n\n\
         data: {\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":{\"content\":\" end\"}}]}\n\n\
         data: {\"choices\":[{\"finish_reason\":\"length\",\"index\":0,\"delta\":{}}]}\n\n\
         data: {\"choices\":[],\"usage\":{\"completion_tokens\":2,\"prompt_tokens\":31,\"total_tokens\":33}}\n\n\
         data: [DONE]\n\n",
        ("", "The end"),
        Some((31, 2)),
        Ok(Length),
    ),
    reply(
        "no [DONE]",
        OpenAi,
        "data: {\"choices\":[{\"delta\":{\"content\":\"Done\"}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
        ("", "Done"),
        None,
        Ok(Stop),
    ),
    reply(
        "no [DONE], no empty line, no space",
        OpenAi,
        "data:{\"choices\":[{\"delta\":{\"content\":\"Do\"}}]}\ndata:{\"choices\":[{\"delta\":{\"content\":\"ne\"},\"finish_reason\":\"stop\"}]}",
        ("", "Done"),
        None,
        Ok(Stop),
    ),
    reply(
        "cut off",
        OpenAi,
        "data: {\"choices\":[{\"delta\":{\"content\":\"Ha\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"lf\"}}]}\n\ndata: {\"choices\":[{\"del",
        ("", "Half"),
        None,
        Ok(Interrupted),
    ),
    reply(
        "error in the middle",
        OpenAi,
        "data: {\"choices\":[{\"delta\":{\"content\":\"Half\"}}]}\n\ndata: {\"error\":{\"message\":\"boom\",\"type\":\"server_error\",\"param\":null,\"code\":null}}\n\ndata: [DONE]\n\n",
        ("", "Half"),
        None,
        Err(FailureKind::InReply),
    ),
    reply(
        "error in the middle with a status",
        OpenAi,
        "event: error\ndata: {\"error\":{\"message\":\"slow down\",\"code\":429}}\n\n",
        ("", ""),
        None,
        Err(FailureKind::RateLimited),
    ),
    reply(
        "error that is no event",
        OpenAi,
        "{\n  \"error\": {\n    \"message\": \"boom\",\n    \"code\": \"x\"\n  }\n}\n",
        ("", ""),
        None,
        Err(FailureKind::InReply),
    ),
    reply(
        "HTML",
        OpenAi,
        "<!doctype html>\n<html><body>Log in: data: {\"choices\":[]}</body></html>\n",
        ("", ""),
        None,
        Err(FailureKind::Html),
    ),
    reply("HTML from Ollama's address", Ollama, "\n<html>\n</html>", ("", ""), None, Err(FailureKind::Html)),
    reply("no JSON", Ollama, "Ollama is running", ("", ""), None, Err(FailureKind::NotJson)),
    reply("nothing", OpenAi, "", ("", ""), None, Err(FailureKind::Empty)),
    reply(
        "nothing but comments",
        OpenAi,
        ": keep-alive\n\n\ndata: [DONE]\n\n",
        ("", ""),
        None,
        Err(FailureKind::Empty),
    ),
    reply(
        "a server that does not stream",
        OpenAi,
        "{\"object\":\"chat.completion\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"All \\\"at\\\" once\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}",
        ("", "All \"at\" once"),
        Some((1, 2)),
        Ok(Stop),
    ),
    reply(
        "think tags in code stay",
        OpenAi,
        "data: {\"choices\":[{\"delta\":{\"content\":\"Write `<think>` and\\n```\\n</think>\\n```\\n\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"ok <thin\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
        ("", "Write `<think>` and\n```\n</think>\n```\nok <thin"),
        None,
        Ok(Stop),
    ),
    reply(
        "vLLM's name for reasoning, content in parts, an emoji as an escape",
        OpenAi,
        "data: {\"choices\":[{\"delta\":{\"reasoning\":\"hm\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"\\ud83d\\ude00\"}]}}]}\n\ndata: [DONE]\n\n",
        ("hm", "😀"),
        None,
        Ok(Stop),
    ),
    reply(
        "an object over several lines",
        Ollama,
        "{\n\"message\": {\"content\": \"x\"},\n\"done\": true\n}\n",
        ("", "x"),
        None,
        Ok(Stop),
    ),
];
