use super::*;

fn convert(text: &str) -> String {
    to_markdown(text, &mut Notes::default())
}

#[test]
fn titles_of_any_punctuation_make_levels_by_first_use() {
    let text = "=====\nTitle\n=====\n\n.. _first:\n\nOne\n***\n\ntext\n\nTwo\n~~~\n\nThree\n*****\n\nOne\n***\n";
    assert_eq!(
        convert(text),
        "# Title {#title}\n\n## One {#one}\n\ntext\n\n### Two {#two}\n\n## Three {#three}\n\n## One {#id1}\n"
    );
}

#[test]
fn chinese_titles_and_their_labels() {
    assert_eq!(convert(".. _shortest-path:\n\n最短路\n======\n\n正文。\n"), "# 最短路 {#shortest-path}\n\n正文。\n");
    assert_eq!(convert("最短路\n======\n"), "# 最短路 {#id1}\n");
}

#[test]
fn roles_are_shown_as_their_text() {
    let cases = [
        ("See :ref:`Indexing routines <routines.indexing>`.", "See Indexing routines."),
        ("Use :func:`~numpy.linalg.norm` or :meth:`.ndarray.sum`.", "Use `norm` or `ndarray.sum`."),
        (":c:func:`PyArray_NewFromDescr` and :class:`arrays <numpy.ndarray>`", "`PyArray_NewFromDescr` and `arrays`"),
        ("a :term:`ufunc`, :doc:`/user/basics`, :pep:`8`", "a ufunc, basics, PEP 8"),
        ("``x[obj]`` where *x* is **the** array", "`x[obj]` where x is the array"),
        ("an `ndarray` and `two words`", "an `ndarray` and two words"),
        (":math:`\\alpha_i * 2`", "$\\alpha_i * 2$"),
        ("`NumPy <https://numpy.org>`_ and `docs <other>`__", "[NumPy](https://numpy.org) and docs"),
        ("re\\ :sup:`2` and 2 * 3 * 4", "re2 and 2 \\* 3 \\* 4"),
        ("see [1]_ and [#note]_", "see [1] and [note]"),
        ("__init__ and x_ and a|b", "\\_\\_init\\_\\_ and x\\_ and a|b"),
        ("http://a.b/c_d_", "http://a.b/c_d\\_"),
        ("使用\\ :func:`sum`\\ 求和，或**重点**内容", "使用`sum`求和，或重点内容"),
        ("unclosed ``literal and `name", "unclosed \\`\\`literal and \\`name"),
    ];
    for (rst, markdown) in cases {
        assert_eq!(convert(rst), format!("{markdown}\n"), "{rst}");
    }
}

#[test]
fn references_are_resolved_inside_the_document() {
    let text = "Read NumPy_ and `the guide`_. See :ref:`lbl`. |v| is out.\n\n.. _NumPy: https://numpy.org\n.. _the guide: https://g.org\n.. |v| replace:: NumPy 2\n\n.. _lbl:\n\nThe *Title*\n===========\n";
    assert_eq!(
        convert(text),
        "Read [NumPy](https://numpy.org) and [the guide](https://g.org). See The Title. NumPy 2 is out.\n\n# The Title {#the-title}\n"
    );
}

#[test]
fn literal_blocks_and_doctests_are_code() {
    assert_eq!(
        convert("Text::\n\n    x = 1\n\n    y = 2\n\nAfter.\n"),
        "Text:\n\n```\nx = 1\n\ny = 2\n```\n\nAfter.\n"
    );
    assert_eq!(convert("Text ::\n\n  >>> 1\n  1\n"), "Text\n\n```python\n>>> 1\n1\n```\n");
    assert_eq!(convert("::\n\n  x\n"), "```\nx\n```\n");
    assert_eq!(convert(">>> a = 1\n>>> a\n1\n\nText\n"), "```python\n>>> a = 1\n>>> a\n1\n```\n\nText\n");
    assert_eq!(convert(">>> a = 1\n\n>>> a\n1\n"), "```python\n>>> a = 1\n\n>>> a\n1\n```\n");
    assert_eq!(convert("Quoted::\n\n> a\n> b\n\nText\n"), "Quoted:\n\n```\n> a\n> b\n```\n\nText\n");
    assert_eq!(convert(".. highlight:: c\n\nSee::\n\n  int x;\n"), "See:\n\n```c\nint x;\n```\n");
}

#[test]
fn directives_of_sphinx() {
    let cases = [
        (".. note:: Mind\n   this.\n", "> **Note**\n>\n> Mind\n> this."),
        (".. warning::\n\n   Hot.\n\n   Very.\n", "> **Warning**\n>\n> Hot.\n>\n> Very."),
        (".. admonition:: A title\n   :class: tip\n\n   Body\n", "> **A title**\n>\n> Body"),
        (".. versionadded:: 1.20 With text.\n", "> **New in version 1.20**\n>\n> With text."),
        (".. code-block:: python\n   :linenos:\n\n   x = 1\n     y\n", "```python\nx = 1\n  y\n```"),
        (".. math::\n\n   a + b\n\n   c\n", "$$\na + b\n$$\n\n$$\nc\n$$"),
        (".. math:: e^x\n", "$$\ne^x\n$$"),
        (".. toctree::\n   :maxdepth: 1\n\n   a\n   b\n", ""),
        (".. index:: x, y\n.. currentmodule:: numpy\n\nText\n", "Text"),
        (".. a comment\n   over lines\n\nText\n", "Text"),
        ("..\n\n   A quote after an empty comment\n", "> A quote after an empty comment"),
        (".. autosummary::\n   :toctree: generated/\n\n   linalg.norm\n   ~a.b\n", "- `linalg.norm`\n- `a.b`"),
        (
            ".. c:function:: int f(int a)\n                int g(void)\n\n   Does :c:data:`X`.\n",
            "`int f(int a)`\n`int g(void)`\n\nDoes `X`.",
        ),
        (".. image:: x.png\n   :alt: A plot\n", "A plot"),
        (".. figure:: x.png\n   :scale: 50\n\n   The caption.\n", "The caption."),
        (
            ".. rubric:: Footnotes\n\n.. [1] One.\n.. [#n] Two\n   lines.\n",
            "**Footnotes**\n\n[1] One.\n\n[n] Two\nlines.",
        ),
        (".. tab-set::\n\n   .. tab-item:: Linux\n\n      Do it.\n", "**Linux**\n\nDo it."),
    ];
    for (rst, markdown) in cases {
        assert_eq!(convert(rst).trim_end(), markdown, "{rst}");
    }
}

#[test]
fn an_unknown_directive_keeps_its_body_and_is_reported() {
    let mut notes = Notes::default();
    assert_eq!(to_markdown(".. wonder:: arg\n   :opt: 1\n\n   Body.\n", &mut notes), "Body.\n");
    assert_eq!(notes.list(), ["unknown directive `wonder`, its body is kept: 1"]);
}

#[test]
fn lists_nest() {
    assert_eq!(
        convert("* one\n  more\n\n  para\n* two\n\n  - sub\n  - sub2\n\nAfter\n"),
        "- one\n  more\n\n  para\n- two\n  - sub\n  - sub2\n\nAfter\n"
    );
    assert_eq!(convert("3. three\n4. four\n"), "3. three\n4. four\n");
    assert_eq!(convert("#. one\n#. two\n"), "1. one\n2. two\n");
    assert_eq!(convert("(a) one\n(b) two\n"), "1. one\n2. two\n");
    assert_eq!(convert("A. Einstein was\nhere.\n"), "A. Einstein was\nhere.\n");
    assert_eq!(
        convert("term : kind\n  Text of it.\nnext\n  More.\n"),
        "**term** (kind)\nText of it.\n\n**next**\nMore.\n"
    );
    assert_eq!(convert("Text\n\n:param int x: the value\n:returns: it\n"), "Text\n\n- `x`: the value\n- returns: it\n");
    assert_eq!(convert(":orphan:\n\nText\n"), "Text\n", "fields at the top are metadata");
    assert_eq!(
        convert("-v, --verbose  Say more\n--quiet\n    Say less\n"),
        "- `-v, --verbose`: Say more\n- `--quiet`: Say less\n"
    );
}

#[test]
fn tables_of_every_kind() {
    let header = "| A | B |\n| --- | --- |\n| 1 | two |\n";
    assert_eq!(convert("===  =====\nA    B\n===  =====\n1    two\n===  =====\n"), header);
    assert_eq!(convert("+---+-----+\n| A | B   |\n+===+=====+\n| 1 | two |\n+---+-----+\n"), header);
    assert_eq!(convert(".. list-table::\n   :header-rows: 1\n\n   * - A\n     - B\n   * - 1\n     - two\n"), header);
    assert_eq!(convert(".. csv-table::\n   :header: A,B\n\n   1,\"two\"\n"), header);
    assert_eq!(
        convert("===  =====\n1    two\n     more\n2    x|y\n===  =====\n"),
        "| | |\n| --- | --- |\n| 1 | two more |\n| 2 | x\\|y |\n"
    );
    assert_eq!(
        convert("+------+----+\n| 中文 | B  |\n+------+----+\n| both      |\n+------+----+\n"),
        "| | |\n| --- | --- |\n| 中文 | B |\n| both | |\n"
    );
    assert_eq!(
        convert(".. list-table::\n\n   * - a\n     - code::\n\n         x = 1\n"),
        "| | |\n| --- | --- |\n| a | code: `x = 1` |\n"
    );
}

#[test]
fn whatever_the_lines_it_ends() {
    let nasty = [
        "..",
        ".. ",
        ".. ::",
        "::",
        "=",
        "==",
        "====\n====",
        "+-",
        "+--+",
        "+--+\n|",
        "* ",
        "-",
        ":a:",
        "|",
        "| ",
        ">>>",
        "__",
        "__ x",
        "a\n b\nc\n  d",
        "===\n===\n",
        "== ==\n",
        "== ==\na",
        ".. |x|",
        ".. [x]",
        ".. _`a`:",
        "`",
        "``",
        "```",
        "````",
        ":a:`",
        "*",
        "**",
        "***",
        "\\",
        "[x]_",
        "_",
        "|a|_",
        ".. list-table::\n\n   x\n",
        ".. csv-table::\n\n   \"\n",
        "\t\tx\n\ty\nz",
        "。\n==",
        "é\n\u{301}\n==",
    ];
    for text in nasty {
        convert(text);
        convert(&format!("{text}\n\n  {text}\n"));
        convert(&format!("* {text}\n  {text}"));
    }
    let deep: String = (0..500).map(|n| format!("{}* x\n", " ".repeat(2 * n))).collect();
    assert!(convert(&deep).contains('x'));
    let stray = "`a *b |c [d ".repeat(20_000);
    assert!(convert(&stray).len() > 200_000);
}
