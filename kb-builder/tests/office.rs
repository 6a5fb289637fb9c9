//! Files of Word's kin, made by real programs (`tests/fixtures/office/make.py`), against what their authors wrote.

use kb_builder::convert::{Converted, Format, convert};
use kb_builder::source::Entry;
use kb_core::document::{MetaValue, plain};
use std::path::Path;

fn converted(name: &str) -> Converted {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/office").join(name);
    let bytes = std::fs::read(path).expect(name);
    let entry = Entry { path: name.into(), bytes: bytes.len() as u64 };
    convert(Format::of(name).expect(name), "fixtures", &entry, &bytes, &|_| None).expect(name)
}

/// Level and title of every heading.
fn headings(name: &str) -> Vec<(u8, String)> {
    converted(name).document.sections.into_iter().map(|s| (s.level, s.title)).collect()
}

fn owned(list: &[(u8, &str)]) -> Vec<(u8, String)> {
    list.iter().map(|(level, title)| (*level, title.to_string())).collect()
}

/// The outline of `lecture.md`, whose title stands over it.
const LECTURE: [(u8, &str); 6] = [
    (1, "图论讲义"),
    (2, "最短路"),
    (3, "Dijkstra 算法"),
    (4, "复杂度"),
    (3, "Bellman–Ford"),
    (2, "Minimum spanning trees"),
];

#[test]
fn a_lecture_from_pandoc_and_from_libreoffice() {
    for name in ["pandoc.docx", "libreoffice.docx"] {
        if !Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/office").join(name).is_file() {
            eprintln!("skipped: there is no {name}");
            continue;
        }
        assert_eq!(headings(name), owned(&LECTURE), "{name}");
        let document = converted(name).document;
        assert_eq!(document.title, "图论讲义", "{name}");
        for part in [
            "给定一张带权图和一个起点，求起点到每个点的最短距离。[^1]",
            "[^1]: 松弛是唯一会改变距离的操作。",
            "[OI Wiki](https://oi-wiki.org/graph/shortest-path/)",
            "1. 把起点的距离设为 0；\n2. 重复下面的步骤：\n   - 取出最小的点；\n   - 松弛它的边。\n3. 结束。",
            "def relax(u, v, w):\n    if d[u] + w < d[v]:\n        d[v] = d[u] + w\n```",
            "| 实现 | 时间 | 适用 |\n| --- | --- | --- |\n| 朴素 | O(n²) | 稠密图 |\n| 二叉堆 | O(m log n) | 稀疏图 |",
            "- 可以处理负权边\n- 可以发现负环",
        ] {
            assert!(document.text.contains(part), "{part}\n-- in {name}:\n{}", document.text);
        }
    }
}

#[test]
fn formulas_are_tex_again() {
    let text = converted("pandoc.docx").document.text;
    assert!(
        text.contains(
            r"$$
\sum_{i=1}^{n} \frac{m_{i}\log n}{2}\le \sqrt{x^{2}+1}
$$"
        ),
        "{text}"
    );
    assert!(text.contains("每次取出距离最小的点 $u$，用它松弛相邻的点："), "{text}");
}

#[test]
fn chinese_style_names_outline_levels_and_merged_cells() {
    let found = headings("styled.docx");
    assert_eq!(found, owned(&[(1, "第一章 绪论"), (2, "1.1 课程安排"), (2, "用大纲级别写的标题")]));
    let document = converted("styled.docx").document;
    assert_eq!(document.title, "第一章 绪论", "the template's title is not the document's");
    assert_eq!(document.metadata["author"], MetaValue::Text("李老师".into()));
    assert!(document.text.contains("| 1 | 图的概念 | 习题一 |\n| 1 | 图的遍历 | 习题二 |"), "{}", document.text);
    assert!(document.text.contains("x² 与 a₁") && !document.text.contains("看不见"), "{}", document.text);
    let text = plain(&document.text).text;
    for line in ["C:\\Users\\* 和 a_b_c 都不是标记，# 也不是。", "# 不是标题"] {
        assert!(text.lines().any(|l| l == line), "{line} in {text}");
    }
}

#[test]
fn headings_made_by_hand_are_found() {
    let found = headings("unstyled.docx");
    assert_eq!(found, owned(&[(1, "数据结构课程大纲"), (2, "一、课程目标"), (2, "二、考核方式"), (3, "注意")]));
    assert!(converted("unstyled.docx").notes.list().iter().any(|n| n.contains("headings guessed")));
}

#[test]
fn a_slide_is_a_section_with_its_notes() {
    let document = converted("slides.pptx").document;
    let slides: Vec<(&str, &str)> = document.sections.iter().map(|s| (s.title.as_str(), s.anchor.as_str())).collect();
    assert_eq!(slides, [("排序算法", "slide-1"), ("归并排序", "slide-2"), ("比较", "slide-3"), ("Slide 4", "slide-4")]);
    assert_eq!(document.title, "排序算法");
    let of = |i: usize| document.text[document.sections[i].span_bytes.clone()].trim();
    assert_eq!(of(0), "## 排序算法 {#slide-1}\n\n第三讲");
    assert_eq!(
        of(1),
        "## 归并排序 {#slide-2}\n\n- 分治\n  - 分成两半\n  - 分别排序\n- 合并\n\n> 提醒学生：归并排序是稳定的。\n>\n> 画出递归树。"
    );
    assert_eq!(of(2), "## 比较 {#slide-3}\n\n| 算法 | 时间 |\n| --- | --- |\n| 归并 | O(n log n) |\n| 插入 | O(n²) |");
    assert!(of(3).ends_with("没有标题的一页"));
}

#[test]
fn a_book_and_a_notebook() {
    let book = converted("pandoc.epub").document;
    assert_eq!((book.title.as_str(), &book.metadata["author"]), ("图论讲义", &MetaValue::Text("张老师".into())));
    let titles: Vec<&str> = book.sections.iter().map(|s| s.title.as_str()).collect();
    let wanted: Vec<&str> = LECTURE.iter().skip(1).map(|(_, title)| *title).collect();
    let found: Vec<&str> = titles.into_iter().filter(|t| wanted.contains(t)).collect();
    assert_eq!(found, wanted);
    assert!(book.text.contains("| 朴素 | O(n²) | 稠密图 |") && book.text.contains("- 可以发现负环"), "{}", book.text);

    let notebook = converted("regression.ipynb").document;
    assert_eq!(notebook.title, "线性回归");
    assert_eq!(
        notebook.text,
        "# 线性回归\n\n最小二乘：$\\min \\|Xw-y\\|^2$\n\n```python\nimport numpy as np\nw = np.linalg.lstsq(X, y)[0]\nw\n```\n\n\
         ```text\narray([1.5, 2.0])\n```\n\n## 结果\n\n误差见下图。\n"
    );
}

#[test]
fn damaged_office_files_are_errors_or_text() {
    for name in ["pandoc.docx", "slides.pptx", "pandoc.epub"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/office").join(name);
        let bytes = std::fs::read(path).expect(name);
        let entry = Entry { path: name.into(), bytes: 0 };
        let run = |bytes: &[u8]| {
            if let Err(e) = convert(Format::of(name).expect(name), "c", &entry, bytes, &|_| None) {
                assert!(!e.message().contains("broke down"), "{name}: {e}");
            }
        };
        for end in (0..bytes.len()).step_by(997) {
            run(&bytes[..end]);
        }
        for at in (0..bytes.len()).step_by(211) {
            let mut turned = bytes.clone();
            turned[at] ^= 0x15;
            run(&turned);
        }
    }
}
