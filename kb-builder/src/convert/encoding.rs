//! From bytes to text: which encoding a file is in.

use kb_core::{Error, ErrorKind, Result};

/// Text with `\n` line ends, and the name of the encoding that it was in.
#[derive(Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The text, without a byte order mark.
    pub text: String,
    /// `UTF-8`, `UTF-16LE`, `gb18030`, `Big5`, `Shift_JIS`…, as the Encoding Standard names them.
    pub encoding: &'static str,
}

/// Decodes a file: a byte order mark decides, else what the document declares of itself (`declared`,
/// an HTML `charset`), else UTF-8 if the bytes are valid, else what the frequencies of its letters are
/// most like: GB18030 (which contains GBK and GB2312), Big5, Shift-JIS, EUC-JP, EUC-KR or one of the
/// Windows code pages. A guess is reported by its name.
///
/// Bytes that fit nothing are an error: a guess would put garbage into the index.
pub fn decode(bytes: &[u8], declared: Option<&str>) -> Result<Decoded> {
    // The first mark begins with that of UTF-16.
    if bytes.starts_with(&[0xff, 0xfe, 0, 0]) || bytes.starts_with(&[0, 0, 0xfe, 0xff]) {
        return Err(undecodable("it is in UTF-32"));
    }
    if let Some((encoding, mark)) = encoding_rs::Encoding::for_bom(bytes) {
        let (text, damaged) = encoding.decode_without_bom_handling(&bytes[mark..]);
        return if damaged {
            Err(undecodable(&format!("it begins with a mark of {} but is not", encoding.name())))
        } else {
            Ok(done(&text, encoding.name()))
        };
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        if text.contains('\0') {
            return Err(undecodable("it contains NUL bytes, so it is binary or UTF-16 without a mark"));
        }
        return Ok(done(text, "UTF-8"));
    }
    if bytes.contains(&0) {
        return Err(undecodable("it contains NUL bytes, so it is binary or UTF-16 without a mark"));
    }
    let declared = declared.and_then(|label| encoding_rs::Encoding::for_label(label.as_bytes()));
    for encoding in declared.into_iter().chain(guesses(bytes)) {
        let (text, damaged) = encoding.decode_without_bom_handling(bytes);
        // Legacy code pages have a letter for nearly every byte, control characters among them.
        let binary = text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{c}' | '\u{1a}'));
        if !damaged && !binary {
            return Ok(done(&text, encoding.name()));
        }
    }
    Err(undecodable("it is not UTF-8, has no mark of UTF-16, and is like no other encoding of text"))
}

/// Encodings to try, most likely first.
fn guesses(bytes: &[u8]) -> Vec<&'static encoding_rs::Encoding> {
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    let guess = detector.guess(None, chardetng::Utf8Detection::Deny);
    // A few words are too short for frequencies: if they are the most common Chinese characters, they are that.
    if is_common_chinese(bytes) && !matches!(guess.name(), "EUC-KR" | "EUC-JP") {
        return vec![encoding_rs::GB18030, guess];
    }
    // GB18030 contains what a detector calls GBK.
    let guess = if guess == encoding_rs::GBK { encoding_rs::GB18030 } else { guess };
    vec![guess, encoding_rs::GB18030]
}

/// Whether all characters outside of ASCII lie in the first level of GB2312 or in its punctuation.
fn is_common_chinese(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    let (mut common, mut signs) = (0, 0);
    while let [first, tail @ ..] = rest {
        match (first, tail) {
            (0..=0x7F, _) => rest = tail,
            (0xB0..=0xD7, [0xA1..=0xFE, tail @ ..]) => (common, rest) = (common + 1, tail),
            (0xA1 | 0xA3, [0xA1..=0xFE, tail @ ..]) => (signs, rest) = (signs + 1, tail),
            _ => return false,
        }
    }
    common > signs
}

fn undecodable(why: &str) -> Error {
    Error::new(ErrorKind::Convert, format!("the encoding is unknown: {why}"))
}

fn done(text: &str, encoding: &'static str) -> Decoded {
    let text = if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text.to_string() };
    Decoded { text, encoding }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_decides_then_utf8_then_gb18030() {
        // "知识库\r\n" in each encoding; the bytes are from Python's codecs. The first two characters alone
        // would be valid UTF-8 in GB18030 as well.
        let cases: [(&[u8], &str); 5] = [
            (b"\xe7\x9f\xa5\xe8\xaf\x86\xe5\xba\x93\r\n", "UTF-8"),
            (b"\xef\xbb\xbf\xe7\x9f\xa5\xe8\xaf\x86\xe5\xba\x93\r\n", "UTF-8"),
            (b"\xff\xfe\xe5\x77\xc6\x8b\x93\x5e\r\x00\n\x00", "UTF-16LE"),
            (b"\xfe\xff\x77\xe5\x8b\xc6\x5e\x93\x00\r\x00\n", "UTF-16BE"),
            (b"\xd6\xaa\xca\xb6\xbf\xe2\r\n", "gb18030"),
        ];
        for (bytes, encoding) in cases {
            let d = decode(bytes, None).expect(encoding);
            assert_eq!(d.text, "知识库\n", "{encoding}");
            assert_eq!(d.encoding, encoding);
        }
    }

    #[test]
    fn a_declaration_is_believed_before_gb18030_but_not_before_utf8() {
        // "知識" in Big5, from Python's codecs.
        let d = decode(b"\xaa\xbe\xc3\xd1", Some("big5")).expect("decodes");
        assert_eq!((d.text.as_str(), d.encoding), ("知識", "Big5"));
        let d = decode("知識".as_bytes(), Some("big5")).expect("decodes");
        assert_eq!(d.encoding, "UTF-8");
    }

    #[test]
    fn legacy_encodings_are_told_apart() {
        let zh_hans = "图论起源于著名的柯尼斯堡七桥问题，用点代表事物，用连接两点的线表示相应两个事物间具有这种关系。";
        let zh_hant = "圖論起源於著名的柯尼斯堡七橋問題，用點代表事物，用連接兩點的線表示相應兩個事物間具有這種關係。";
        let ja = "グラフ理論は、ノードの集合とエッジの集合で構成されるグラフに関する数学の理論である。";
        let ko = "그래프 이론은 수학에서 객체 간에 짝을 이루는 관계를 모델링하기 위해 사용되는 수학 구조인 그래프에 대한 연구이다.";
        let ru = "Теория графов — раздел дискретной математики, изучающий графы, одна из ветвей топологии.";
        let de = "Ein Graph ist eine Menge von Knoten und Kanten; für größere Netze wählt man schönere Übersichten.";
        let fr = "La théorie des graphes est la discipline mathématique et informatique qui étudie les graphes, où être relié à côté.";
        for (text, encoding) in [
            (zh_hans, "gb18030"),
            (zh_hant, "Big5"),
            (ja, "Shift_JIS"),
            (ja, "EUC-JP"),
            (ko, "EUC-KR"),
            (ru, "windows-1251"),
            (de, "windows-1252"),
            (fr, "windows-1252"),
        ] {
            let by = encoding_rs::Encoding::for_label(encoding.as_bytes()).expect(encoding);
            let (bytes, _, lossy) = by.encode(text);
            assert!(!lossy, "{encoding}");
            let d = decode(&bytes, None).expect(encoding);
            assert_eq!((d.encoding, d.text.as_str()), (encoding, text));
        }
        // Few characters: a title, a list of names.
        for text in ["图的遍历", "期末考试", "作业一：求最短路", "张三\n李四\n"] {
            let (bytes, ..) = encoding_rs::GBK.encode(text);
            assert_eq!(decode(&bytes, None).expect(text).text, text);
        }
    }

    #[test]
    fn binary_bytes_are_errors_that_say_so() {
        assert!(decode(b"\x7fELF\0\0", None).expect_err("binary").message().contains("NUL"));
        assert!(
            decode(b"\x89PNG\r\n\x1a\n\x01\x02\x03\xfe\x10", None)
                .expect_err("binary")
                .message()
                .contains("like no other")
        );
        assert!(decode(b"\xff\xfe\x00\xd8", None).is_err(), "a lone surrogate");
    }
}
