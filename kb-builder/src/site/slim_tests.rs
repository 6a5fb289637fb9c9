//! What is left of a script.

use super::slim::slim;

#[test]
fn comments_that_begin_a_line_go_and_code_stays() {
    let source = "// A file.\n\n/** What\n * it does. */\nexport function f(a) {\n  // why\n  const b = a / 2; // half\n\n  \
                  return /** @type {any} */ (b);\n}\n/** @type {any} */ (self).x = 'http://a/*b*/';\n";
    let slimmed = "export function f(a) {\nconst b = a / 2; // half\nreturn /** @type {any} */ (b);\n}\n\
                   (self).x = 'http://a/*b*/';\n";
    assert_eq!(slim(source), slimmed);
    assert_eq!(slim("a {\n  /* b */\n  color: red;\n}\n"), "a {\ncolor: red;\n}\n");
}

#[test]
fn white_space_that_is_part_of_a_text_stays() {
    for source in ["const a = `\n  // text\n`;\n", "const a = 'b\\\n  c';\n", "// c\nf(`\n  ${x}\n`);\n"] {
        assert_eq!(slim(source), source);
    }
    assert_eq!(slim("  const a = `b` + `c`;\n"), "const a = `b` + `c`;\n");
}

#[test]
fn a_comment_that_does_not_end_is_no_loop() {
    assert_eq!(slim("a();\n/* b\n c();"), "a();\n");
}
