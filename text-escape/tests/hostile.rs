//! Whatever is put in comes out as itself, or is seen for what it is.
#![allow(clippy::unwrap_used)]

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use text_escape::*;

/// Pieces that mean something somewhere, and any characters.
fn hostile() -> impl Strategy<Value = String> {
    let pieces: Vec<&'static str> = vec![
        "</title>",
        "<script>alert(1)</script>",
        "\" onerror=\"x",
        "' x='",
        "&amp;",
        "&#60;",
        "]]>",
        "-->",
        "*/",
        "/*",
        "*",
        "/",
        "\\",
        "?",
        "??/",
        "\\\n",
        "\n",
        "\r",
        "\r\n",
        "\t",
        "\u{1b}[31m",
        "\u{9b}2J",
        "\u{7}",
        "\0",
        "\u{202e}",
        "\u{2066}",
        "\u{200b}",
        "\u{feff}",
        "\u{2028}",
        "\u{85}",
        "=cmd|' /C calc'!A0",
        "+1",
        "-1",
        "@x",
        "'",
        "''",
        "$",
        "$(x)",
        "${x}",
        "$$",
        "$<1:x>",
        "$<",
        "`x`",
        ";",
        "#",
        "%",
        " ",
        "[",
        "]",
        "\"",
        "\\N",
        "~",
        "é",
        "e\u{301}",
        "数",
        "1.5",
    ];
    vec(
        prop_oneof![4 => select(pieces).prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)],
        0..8,
    )
    .prop_map(|pieces| pieces.concat())
}

/// Every character that acts on terminals or on the order of text, by its range in Unicode.
const ACTING: [std::ops::RangeInclusive<char>; 12] = [
    '\0'..='\u{1f}',
    '\u{7f}'..='\u{9f}',
    '\u{61c}'..='\u{61c}',
    '\u{180e}'..='\u{180e}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{feff}'..='\u{feff}',
    '\u{fff9}'..='\u{fffb}',
    '\u{e0001}'..='\u{e0001}',
    '\u{e0020}'..='\u{e007f}',
    '\u{3164}'..='\u{3164}',
];

#[test]
fn characters_that_act_are_hidden_and_signs_are_not() {
    for letter in ACTING.into_iter().flatten() {
        assert!(is_hidden(letter), "{letter:?}");
        assert!(!is_hidden(visible_char(letter)) || "\n\t".contains(letter), "{letter:?}");
    }
    for letter in " azAZ09~!äöüßéñ数値αβ→×²µ\u{301}\u{a0}\u{3000}\u{fe0f}😀".chars() {
        assert!(!is_hidden(letter), "{letter:?}");
        assert_eq!(visible_char(letter), letter);
    }
    assert_eq!(visible("a\u{1b}[31mb\u{202e}\nc\td"), "a\\u{1b}[31mb\\u{202e}\\nc\\td");
    assert_eq!(visible_lines("a\r\nb\rc\td"), "a\nb\\rc\td");
    assert_eq!("\u{1b}x\u{9b}".chars().map(visible_char).collect::<String>(), "␛x\u{fffd}");
    assert_eq!(json("\"\u{9b}\u{e0020}é\""), "\"\\u009b\\udb40\\udc20é\"");
}

#[test]
fn formulas_are_text_and_numbers_are_numbers() {
    for formula in
        ["=1+1", "+A1", "-A1", "@SUM(A1)", "\t=1", "\r=1", " =1", "-O3", "'=1", "''-x", "＝1", "+", "-"]
    {
        assert_eq!(csv_cell(formula), format!("'{formula}"));
    }
    for plain in ["", "a=b", "-1", "+2.5e3", "-.5", "'quoted'", "'", "1-2", "x@y"] {
        assert_eq!(csv_cell(plain), plain);
    }
}

#[test]
fn comments_hold_no_end_no_trigraph_and_no_continued_line() {
    assert_eq!(comment("a */ b /*/ c ??/ d\\"), "a * / b / * / c ? ?/ d");
    assert_eq!(comment("x \\ \\"), "x");
    assert_eq!(comment_lines("a\\\n*/\r\nb"), ["a", "* /", "b"]);
}

#[test]
fn names_for_build_files() {
    for name in ["prog", "a/b-c_1.2.c", "é.c", "e\u{301}.c", "x++.c"] {
        assert!(is_make_name(name) && is_cmake_name(name), "{name}");
    }
    for name in [
        "",
        "my prog.c",
        "-x.c",
        "~x.c",
        ".PHONY",
        "a=b",
        "a:b",
        "a;b",
        "a%b",
        "a$b",
        "a#b",
        "a\\b",
        "*.c",
        "@x",
    ] {
        assert!(!is_make_name(name), "{name}");
    }
    for name in [
        "a:b", "a;b", "a\\b", "a|b", "a[b", "a]b", "~b", "a$b", "a\"b", "a#b", "a`b", "a\nb", "a*b", "a?b",
        "a%b", ".PHONY",
    ] {
        assert!(!is_cmake_name(name), "{name}");
    }
    assert_eq!(make_word("-DS=\"a 'b' $(x)\""), "'-DS=\"a '\\''b'\\'' $$(x)\"'");
    assert_eq!(make_word(""), "''");
    assert_eq!(cmake_flag("$<1:x>\\;${A}\""), "$<1:$><1:x>\\\\\\;\\${A}\\\"");
    assert!(is_cmake_flag("-DX=a[1]") && !is_cmake_flag("-DX=a[") && !is_cmake_flag("-DX=]["));
}

/// The text behind backslashes and entities of a Graphviz label.
fn read_dot(label: &str) -> String {
    let mut text = String::new();
    let mut letters = label.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => panic!("the label ends in {label}"),
            '\\' => match letters.next() {
                Some('n') => text.push('\n'),
                Some(other @ ('\\' | '"')) => text.push(other),
                other => panic!("{other:?} behind a backslash in {label}"),
            },
            _ => text.push(letter),
        }
    }
    text.replace("&amp;", "&")
}

proptest! {
    #[test]
    fn markup_is_read_back(text in hostile()) {
        let seen = visible_lines(&text);
        let page = format!("<a x=\"{0}\" y='{0}'><title>{0}</title></a>", markup(&text));
        let document = roxmltree::Document::parse(&page).unwrap();
        let element = document.root_element();
        prop_assert_eq!(element.attribute("x"), Some(seen.as_ref()));
        prop_assert_eq!(element.attribute("y"), Some(seen.as_ref()));
        let title = element.first_element_child().unwrap();
        prop_assert_eq!(title.text().unwrap_or(""), seen.as_ref());
        prop_assert_eq!(document.descendants().filter(|node| node.is_element()).count(), 2);
    }

    #[test]
    fn labels_are_read_back(text in hostile()) {
        let lines: Vec<_> = text.lines().map(visible).collect();
        prop_assert_eq!(read_dot(&dot(&text)), lines.join("\n"));
    }

    #[test]
    fn nothing_hidden_is_left(text in hostile()) {
        prop_assert!(!visible(&text).chars().any(is_hidden));
        prop_assert!(!visible_lines(&text).chars().any(|c| is_hidden(c) && c != '\n' && c != '\t'));
        prop_assert!(!markup(&text).chars().any(is_hidden));
        prop_assert!(!dot(&text).chars().any(is_hidden));
        let once = visible(&text).into_owned();
        prop_assert_eq!(visible(&once), once.as_str());
    }

    #[test]
    fn comments_are_comments(text in hostile()) {
        let inside = comment(&text);
        for wrong in ["*/", "/*", "??", "\n"] {
            prop_assert!(!inside.contains(wrong), "{inside:?}");
        }
        prop_assert!(!inside.ends_with('\\') && !inside.chars().any(is_hidden));
    }

    #[test]
    fn cells_are_read_back(text in hostile()) {
        let cell = csv_cell(&text);
        prop_assert_eq!(csv_text(&cell), text.as_str());
        let first = cell.trim_start().chars().next();
        let number = cell.trim().parse::<f64>().is_ok();
        prop_assert!(number || !first.is_some_and(|first| "=+-@".contains(first)), "{cell:?}");
    }

    #[test]
    fn flags_of_cmake_are_read_back(text in hostile()) {
        let flag = cmake_flag(&text).replace("$<1:$>", "\\$");
        let (mut read, mut letters) = (String::new(), flag.chars());
        while let Some(letter) = letters.next() {
            prop_assert!(!"\"$;".contains(letter), "{flag}");
            read.push(if letter == '\\' { letters.next().unwrap() } else { letter });
        }
        prop_assert_eq!(read, text);
    }
}

/// Words in a recipe reach a program as they are, and nothing else is run. Any shell will do.
#[test]
fn words_reach_programs_as_they_are() {
    let there = |name: &str| std::process::Command::new(name).arg("--version").output().is_ok();
    if !there("make") {
        println!("SKIPPED: there is no make, which would read the words");
        return;
    }
    let words = [
        "my prog",
        "x:;touch PWN;",
        "$(touch PWN)",
        "$$",
        "${HOME}",
        "`touch PWN`",
        "a'b",
        "'",
        "a\"b",
        "a\\",
        "\\n",
        "#",
        "%",
        "*",
        "~",
        "-n",
        "=",
        "é",
        "a  b",
        "(",
        "&",
        "|",
        ">",
        "!",
        "$(shell touch PWN)",
        "",
    ];
    let folder = std::env::temp_dir().join(format!("text-escape-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let recipes: String =
        words.iter().map(|word| format!("\t@printf '[%s]\\n' {}\n", make_word(word))).collect();
    std::fs::write(folder.join("Makefile"), format!("all:\n{recipes}")).unwrap();
    let output = std::process::Command::new("make").arg("-s").arg("-C").arg(&folder).output().unwrap();
    let run = folder.join("PWN").exists();
    std::fs::remove_dir_all(&folder).unwrap();
    let expected: String = words.iter().map(|word| format!("[{word}]\n")).collect();
    assert!(!run);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        expected,
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
