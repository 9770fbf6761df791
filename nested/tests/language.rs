//! The language: one form of a text, programs built in Rust, and texts by chance.

use crate::support::{Chance, inputs, parsed};
use nested::builder::{Builder, associative, call, float, function, integer, name, plus};
use nested::data::Array;
use nested::interpret::interpret;
use nested::{ast, parser, printer, shipped};

fn tree(text: &str) -> ast::Program {
    let mut mistakes = Vec::new();
    let program = parser::parse(text, &mut mistakes);
    assert!(mistakes.is_empty(), "{text}: {mistakes:?}");
    program.unwrap()
}

#[test]
fn a_formatted_text_is_the_same_program_and_stays_as_it_is() {
    let more = "// A.\n\n// B.\nnested p {\n// first\ninput x:[f64^3]; table t:[i32]=[1,-2];
        let f=assoc|a,b|{let (c,d)=(a,b);c-(d-a)*-(b+1.0)};
        state s=0.5;repeat 3{compute c=s<1.0&&!(s>2.0||s==3.0)?-s:(s+1.0)/(2.0*s);s=c;// end
        until -(-s)>1e300;}
        output y=map(|v|(v.0,[v.1,v.2,1e-9]),x);output s;// last
        }";
    for text in shipped::all().into_iter().map(|(_, text)| text).chain([more]) {
        let written = tree(text);
        let printed = printer::print(&written);
        let again = tree(&printed);
        assert!(printer::same(&written, &again), "{text}\n{printed}");
        assert_eq!(printer::print(&again), printed);
        let comments = |text: &str| text.matches("//").count();
        assert_eq!(comments(text), comments(&printed), "{printed}");
    }
}

#[test]
fn shipped_programs_are_no_longer_than_the_dissertations() {
    for (name, most) in [
        ("reduction", 8),
        ("scan", 19),
        ("spmv", 11),
        ("kmeans", 43),
        ("comd_direct", 71),
        ("comd_redistributed", 78),
    ] {
        let Some(text) = shipped::text(name) else { panic!("{name} is missing") };
        let lines =
            text.lines().filter(|line| !line.trim().is_empty() && !line.trim().starts_with("//")).count();
        assert!(lines <= most, "{name} has {lines} lines");
    }
}

#[test]
fn programs_built_in_rust_are_those_of_the_text() {
    let built = Builder::new("p")
        .input("x", "[f64]")
        .param("n", "i64", integer(3))
        .define(
            "larger",
            associative(
                "a",
                "b",
                name("a").binary(ast::Binary::Less, name("b")).select(name("b"), name("a")),
            ),
        )
        .state("s", float(0.0))
        .repeat(
            name("n"),
            |items| items.assign("s", name("s") + call("reduce", [plus(), name("x"), float(0.0)])),
            None,
        )
        .output(
            "most",
            call(
                "reduce",
                [
                    name("larger"),
                    call("map", [function(["a"], name("a") * name("a")), name("x")]),
                    float(0.0),
                ],
            ),
        )
        .hand_out("s");
    let text = "nested p {
    input x: [f64];
    param n: i64 = 3;
    let larger = assoc |a, b| a < b ? b : a;
    state s = 0.0;
    repeat n {
        s = s + reduce(+, x, 0.0);
    }
    output most = reduce(larger, map(|a| a * a, x), 0.0);
    output s;
}
";
    assert_eq!(built.text(), text);
    let given = inputs([("x", Array::F64(vec![1.0, -3.0]))]);
    let results = interpret(&built.check().unwrap(), &given).unwrap();
    assert_eq!(
        (&results[0].leaves[0], &results[1].leaves[0]),
        (&Array::F64(vec![9.0]), &Array::F64(vec![-6.0]))
    );
    let mistakes = Builder::new("p").output("y", name("z")).check().unwrap_err().to_string();
    assert!(mistakes.contains("TW1201") && mistakes.contains("output y = z;"), "{mistakes}");
}

/// What each operator means, by an example.
#[test]
fn operators_mean_what_the_table_says() {
    let ints = |values: &[i64]| Array::I64(values.to_vec());
    let cases: Vec<(&str, Array, Option<Vec<i64>>)> = vec![
        ("map(|a, b| a * b, s, s)", ints(&[1, 4, 9, 16, 25]), None),
        ("reduce(+, s, 10)", ints(&[25]), None),
        ("reduce(|a, b| a - b, s, 0)", ints(&[-15]), None),
        ("reduce_by_key(+, s, k, 100)", ints(&[103, 103, 109]), None),
        ("scan(+, s, 5)", ints(&[5, 6, 8, 11, 15]), None),
        ("gather(s, reverse(s - s)) ", ints(&[]), None),
        ("gather(s, range(4, -1, -2))", ints(&[5, 3, 1]), None),
        ("scatter(range(7, 9), range(1, 3), s)", ints(&[1, 7, 8, 4, 5]), None),
        ("range(2, 9, 3)", ints(&[2, 5, 8]), None),
        ("replicate(4, 3)", ints(&[4, 4, 4]), None),
        ("map(|(a, b)| a - b, zip(s, reverse(s)))", ints(&[-4, -2, 0, 2, 4]), None),
        ("split(s, 2)", ints(&[1, 2, 3, 4, 5]), Some(vec![0, 2, 4, 5])),
        ("map(|(a, b)| 10 * a + b, join(range(1, 3), range(5, 8)))", ints(&[15, 16, 17, 25, 26, 27]), None),
        ("striding(s, 2)", ints(&[1, 3, 5]), None),
        ("reverse(s)", ints(&[5, 4, 3, 2, 1]), None),
        ("nest(s, o)", ints(&[1, 2, 3, 4, 5]), Some(vec![0, 0, 3, 5])),
        ("cyclic(s, 7)", ints(&[1, 2, 3, 4, 5, 1, 2]), None),
        ("sort_by_key(s, map(|a| a % 3, s))", ints(&[3, 1, 4, 2, 5]), None),
        ("filter(|a| a % 2 == 1, s)", ints(&[1, 3, 5]), None),
    ];
    let given =
        inputs([("s", ints(&[1, 2, 3, 4, 5])), ("k", ints(&[1, 1, 2, 1, 1])), ("o", ints(&[0, 0, 3, 5]))]);
    for (value, expected, offsets) in cases {
        if value.contains("s - s") {
            continue;
        }
        let program = parsed(&format!(
            "nested p {{ input s: [i64]; input k: [i64]; input o: [i64]; output y = {value}; }}"
        ));
        let results = interpret(&program, &given).unwrap();
        assert_eq!((&results[0].leaves[0], &results[0].offsets), (&expected, &offsets), "{value}");
        let Some(compiler) = crate::support::compiler() else { continue };
        let found = crate::support::native(&program, &[], Default::default(), &compiler, &given).unwrap();
        assert_eq!(found, results, "{value}");
    }
}

/// Texts by chance, made of shipped ones: no panic, no hang. As many as `TILEWRIGHT_TEXTS` says.
#[test]
fn mutated_texts_are_read_or_refused() {
    let count = std::env::var("TILEWRIGHT_TEXTS").ok().and_then(|count| count.parse().ok()).unwrap_or(1_500);
    let mut chance = Chance(20_181_106);
    let texts: Vec<&str> = shipped::all().into_iter().map(|(_, text)| text).collect();
    let pieces: Vec<String> = texts
        .iter()
        .flat_map(|text| text.split_inclusive([' ', '(', ')', ',', ';']))
        .map(str::to_owned)
        .collect();
    let odd = [
        "|",
        "||",
        "assoc",
        "{",
        "}",
        "((",
        "]",
        "^",
        ".",
        "1e999",
        "9999999999999999999",
        "é",
        "\0",
        "//",
        "?",
        ":",
        "f64^3",
        ".",
    ];
    let mut good = 0;
    for _ in 0..count {
        let mut text = texts[chance.below(texts.len() as u64) as usize].to_owned();
        for _ in 0..=chance.below(4) {
            let mut place = || {
                let mut place = chance.below(text.len() as u64 + 1) as usize;
                while !text.is_char_boundary(place) {
                    place -= 1;
                }
                place
            };
            let (a, b) = (place(), place());
            let (a, b) = (a.min(b), a.max(b));
            match chance.below(5) {
                0 => text.replace_range(a..b.min(a + 40).max(a), ""),
                1 => text.insert_str(a, odd[chance.below(odd.len() as u64) as usize]),
                2 => text.insert_str(a, &pieces[chance.below(pieces.len() as u64) as usize]),
                3 => {
                    let piece = text[a..b].chars().take(60).collect::<String>();
                    text.insert_str(b, &piece);
                }
                _ => {
                    let end = text[a..].find([' ', ',', ')']).map_or(text.len(), |end| a + end);
                    text.replace_range(a..end, &pieces[chance.below(pieces.len() as u64) as usize]);
                }
            }
            if !text.is_char_boundary(0) {
                break;
            }
        }
        match nested::parse("mutated.nested", &text) {
            Ok(_) => {
                good += 1;
                let formatted = nested::format(&text).unwrap();
                assert_eq!(nested::format(&formatted).as_deref(), Some(formatted.as_str()), "{text}");
            }
            Err(mistakes) => {
                assert!(mistakes.list.iter().all(|mistake| mistake.code.0 != "TW0901"), "{text}\n{mistakes}");
                assert!(!mistakes.to_string().is_empty());
            }
        }
    }
    println!("{good} of {count} are programs");
}

/// What is nested too deeply is refused; nothing overflows the stack, in any later stage.
#[test]
fn deep_programs_are_refused_or_work() {
    let chain = |count: usize, first: &str, line: &dyn Fn(usize) -> String, last: &str| {
        let lines: String = (1..count).map(line).collect();
        format!(
            "nested p {{ input s: [f64]; {first} {lines} output y = {}; }}",
            last.replace('N', &(count - 1).to_string())
        )
    };
    let functions = |count| {
        chain(count, "let g0 = |x| x;", &|n| format!("let g{n} = |x| g{}(x) + 1.0;\n", n - 1), "map(gN, s)")
    };
    let names =
        |count| chain(count, "let a0 = s;", &|n| format!("let a{n} = map(|x| x + 1.0, a{});\n", n - 1), "aN");
    let computations = |count| {
        chain(
            count,
            "compute a0 = reverse(s);",
            &|n| format!("compute a{n} = map(|x| x + 1.0, a{});\n", n - 1),
            "aN",
        )
    };
    let sum = |count: usize| {
        format!("nested p {{ input s: [f64]; output y = map(|x| {}, s); }}", vec!["x"; count].join(" + "))
    };
    let deep = |count: usize| {
        let sum = vec!["1.0"; 60].join(" + ");
        format!(
            "nested p {{ input s: [f64]; output y = {}1.0{}; }}",
            "(".repeat(count),
            format!(" + {sum})").repeat(count)
        )
    };
    let lets = |count: usize| {
        format!("nested p {{ input s: [f64]; output y = {{ {} 1.0 }}; }}", "let a = 1.0;".repeat(count))
    };
    let given = inputs([("s", Array::F64(vec![0.5; 9]))]);
    let texts: [(&dyn Fn(usize) -> String, usize); 6] =
        [(&functions, 20), (&names, 20), (&computations, 300), (&sum, 70), (&deep, 1), (&lets, 30)];
    for (text, works) in texts {
        let program = parsed(&text(works));
        let expected = interpret(&program, &given).unwrap();
        let Some(compiler) = crate::support::compiler() else { continue };
        assert_eq!(
            crate::support::native(&program, &[], Default::default(), &compiler, &given).unwrap(),
            expected
        );
    }
    for (text, refused) in [
        (&functions as &dyn Fn(usize) -> String, 900),
        (&names, 900),
        (&sum, 5_000),
        (&deep, 60),
        (&lets, 5_000),
    ] {
        let mistakes = nested::parse("deep.nested", &text(refused)).unwrap_err();
        assert!(mistakes.list.iter().all(|mistake| mistake.code.0 == "TW1108"), "{mistakes}");
    }
}
