//! Small documents written by hand; files of real programs are in `tests/converters.rs`.

use super::super::Notes;
use std::io::{Cursor, Write};

/// A document with this body and these further parts.
pub fn docx(body: &str, parts: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let kinds = ["styles", "numbering", "footnotes"];
    let mut relations = String::new();
    for kind in kinds {
        relations += &format!("<Relationship Id=\"{kind}\" Type=\"http://x/{kind}\" Target=\"{kind}.xml\"/>");
    }
    relations += "<Relationship Id=\"web\" Type=\"http://x/hyperlink\" Target=\"https://example.org/a\" TargetMode=\"External\"/>";
    let document = format!(
        "<w:document xmlns:w=\"w\" xmlns:r=\"r\" xmlns:m=\"m\" xmlns:mc=\"mc\"><w:body>{body}</w:body></w:document>"
    );
    let relations = format!("<Relationships>{relations}</Relationships>");
    let mut all = vec![("word/document.xml", document.as_str()), ("word/_rels/document.xml.rels", relations.as_str())];
    all.extend(parts);
    for (name, text) in all {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).expect("starts");
        zip.write_all(text.as_bytes()).expect("writes");
    }
    zip.finish().expect("finishes").into_inner()
}

fn text(body: &str, parts: &[(&str, &str)]) -> String {
    super::to_markdown(&docx(body, parts), &mut Notes::default()).expect("converts").text
}

fn p(inner: &str) -> String {
    format!("<w:p>{inner}</w:p>")
}

fn r(text: &str) -> String {
    format!("<w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r>")
}

#[test]
fn only_what_a_reader_sees_is_text() {
    let body = p(&format!(
        "{}<w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins>{}</w:ins><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>\
         <w:r><w:t>no</w:t><w:noBreakHyphen/><w:t>break</w:t><w:softHyphen/><w:br/><w:t>line</w:t></w:r>\
         <w:r><w:ruby><w:rt>{}</w:rt><w:rubyBase>{}</w:rubyBase></w:ruby></w:r>",
        r("kept "),
        r("added "),
        r("hàn"),
        r("汉")
    ));
    assert_eq!(text(&body, &[]), "kept added no-break\nline汉\n");
}

#[test]
fn links_by_relation_and_by_field() {
    let body = p(&format!(
        "{}<w:hyperlink r:id=\"web\">{}</w:hyperlink> <w:hyperlink w:anchor=\"x\">{}</w:hyperlink>",
        r("see "),
        r("here"),
        r(" inside")
    ));
    assert_eq!(text(&body, &[]), "see [here](https://example.org/a) inside\n");
    let field = |kind: &str| format!("<w:r><w:fldChar w:fldCharType=\"{kind}\"/></w:r>");
    let body = p(&format!(
        "{}{}<w:r><w:instrText> HYPERLINK \"https://example.org/b\" </w:instrText></w:r>{}{}{}{}",
        r("see "),
        field("begin"),
        field("separate"),
        r("there"),
        field("end"),
        r(" too")
    ));
    assert_eq!(text(&body, &[]), "see [there](https://example.org/b) too\n");
}

#[test]
fn footnotes_follow_their_paragraph() {
    let notes = "<w:footnotes xmlns:w=\"w\"><w:footnote w:id=\"0\" w:type=\"separator\"><w:p/></w:footnote>\
                 <w:footnote w:id=\"2\"><w:p><w:r><w:footnoteRef/></w:r><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote></w:footnotes>";
    let body = p(&format!("{}<w:r><w:footnoteReference w:id=\"2\"/></w:r>", r("Text"))) + &p(&r("More"));
    assert_eq!(text(&body, &[("word/footnotes.xml", notes)]), "Text[^1]\n\n[^1]: A note.\n\nMore\n");
}

#[test]
fn formulas_alone_and_in_text() {
    let math =
        "<m:oMath><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath>";
    assert_eq!(text(&p(&format!("<m:oMathPara>{math}</m:oMathPara>")), &[]), "$$\nx^{2}\n$$\n");
    assert_eq!(text(&p(&format!("{}{math}", r("so "))), &[]), "so $x^{2}$\n");
}

#[test]
fn numbered_headings_and_nested_lists() {
    let styles = "<w:styles xmlns:w=\"w\"><w:style w:type=\"paragraph\" w:styleId=\"1\"><w:name w:val=\"heading 1\"/>\
        <w:pPr><w:outlineLvl w:val=\"0\"/><w:numPr><w:numId w:val=\"1\"/></w:numPr></w:pPr></w:style>\
        <w:style w:type=\"paragraph\" w:styleId=\"toc\"><w:name w:val=\"toc 1\"/></w:style></w:styles>";
    let level = |n: u8, kind: &str, text: &str| {
        format!(
            "<w:lvl w:ilvl=\"{n}\"><w:start w:val=\"1\"/><w:numFmt w:val=\"{kind}\"/><w:lvlText w:val=\"{text}\"/></w:lvl>"
        )
    };
    let numbering = format!(
        "<w:numbering xmlns:w=\"w\"><w:abstractNum w:abstractNumId=\"0\">{}</w:abstractNum><w:abstractNum w:abstractNumId=\"1\">{}{}</w:abstractNum>\
         <w:num w:numId=\"1\"><w:abstractNumId w:val=\"0\"/></w:num><w:num w:numId=\"2\"><w:abstractNumId w:val=\"1\"/></w:num></w:numbering>",
        level(0, "chineseCounting", "第%1章"),
        level(0, "decimal", "%1."),
        level(1, "bullet", "•")
    );
    let styled = |style: &str, t: &str| p(&format!("<w:pPr><w:pStyle w:val=\"{style}\"/></w:pPr>{}", r(t)));
    let item = |level: u8, t: &str| {
        p(&format!("<w:pPr><w:numPr><w:ilvl w:val=\"{level}\"/><w:numId w:val=\"2\"/></w:numPr></w:pPr>{}", r(t)))
    };
    let body = styled("toc", "绪论 1")
        + &styled("1", "绪论")
        + &item(0, "one")
        + &item(1, "dot")
        + &item(0, "two")
        + &styled("1", "图");
    let parts = [("word/styles.xml", styles), ("word/numbering.xml", numbering.as_str())];
    assert_eq!(text(&body, &parts), "# 第一章 绪论\n\n1. one\n   - dot\n2. two\n\n# 第二章 图\n");
}

#[test]
fn tables_with_merged_cells_and_frames() {
    let cell = |properties: &str, t: &str| format!("<w:tc><w:tcPr>{properties}</w:tcPr>{}</w:tc>", p(&r(t)));
    let row = |cells: &[String]| format!("<w:tr>{}</w:tr>", cells.concat());
    let table = format!(
        "<w:tbl>{}{}{}{}</w:tbl>",
        row(&[cell("", "a"), cell("", "b"), cell("", "c")]),
        row(&[cell("<w:vMerge w:val=\"restart\"/>", "1"), cell("<w:gridSpan w:val=\"2\"/>", "wide")]),
        row(&[cell("<w:vMerge/>", ""), cell("", "x|y"), cell("", "z")]),
        ""
    );
    assert_eq!(text(&table, &[]), "| a | b | c |\n| --- | --- | --- |\n| 1 | wide | |\n| 1 | x\\|y | z |\n");
    let frame = format!("<w:tbl>{}</w:tbl>", row(&[format!("<w:tc>{}{}</w:tc>", p(&r("in")), p(&r("frame")))]));
    assert_eq!(text(&frame, &[]), "in\n\nframe\n");
}

#[test]
fn deep_nesting_ends_well() {
    let deep = "<w:tbl><w:tr><w:tc>".repeat(300) + &p(&r("x")) + &"</w:tc></w:tr></w:tbl>".repeat(300);
    text(&deep, &[]);
    let deep = p(&("<w:ins>".repeat(400) + &r("deep") + &"</w:ins>".repeat(400)));
    assert_eq!(text(&deep, &[]).trim(), "deep");
}
