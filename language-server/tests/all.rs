//! Conversations, as editors have them, and as broken ones have them.
#![allow(clippy::unwrap_used)]

use language_server::serve;
use proptest::prelude::*;
use serde_json::{Value, json};

fn framed(body: &str) -> Vec<u8> {
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// What is answered to these messages, and the exit code.
fn talk(messages: &[Value]) -> (Vec<Value>, u8) {
    let input: Vec<u8> = messages.iter().flat_map(|message| framed(&message.to_string())).collect();
    let mut output = Vec::new();
    let code = serve(&mut input.as_slice(), &mut output).unwrap();
    (unframed(&output), code)
}

fn unframed(mut output: &[u8]) -> Vec<Value> {
    let mut found = Vec::new();
    while !output.is_empty() {
        let end = output.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let head = std::str::from_utf8(&output[..end]).unwrap();
        let length: usize = head.strip_prefix("Content-Length: ").unwrap().parse().unwrap();
        found.push(serde_json::from_slice(&output[end + 4..end + 4 + length]).unwrap());
        output = &output[end + 4 + length..];
    }
    found
}

fn request(id: u32, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn notify(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

const FILE: &str = "file:///heat.stencil";

fn open(text: &str) -> Value {
    let document = json!({"uri": FILE, "languageId": "stencil", "version": 1, "text": text});
    notify("textDocument/didOpen", json!({"textDocument": document}))
}

fn change(text: &str) -> Value {
    let document = json!({"uri": FILE, "version": 2});
    notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": [{"text": text}]}))
}

fn hover(id: u32, line: usize, character: usize) -> Value {
    let position = json!({"line": line, "character": character});
    request(id, "textDocument/hover", json!({"textDocument": {"uri": FILE}, "position": position}))
}

fn begin() -> Value {
    request(0, "initialize", json!({"capabilities": {}, "processId": null, "rootUri": null}))
}

const GOOD: &str = "// Heat in a rod.\nstencil heat(t, i) {\n    field u: f32;\n    param a = 0.25;\n\
    \x20   u[t+1, i] = u[t, i] + a * (u[t, i-1] - 2 * u[t, i] + u[t, i+1]);\n}\n";

#[test]
fn mistakes_are_published_where_they_are() {
    let wrong = GOOD.replace("a * (u", "/* \u{1f600} */ w * (u");
    let (said, code) = talk(&[
        begin(),
        notify("initialized", json!({})),
        open(GOOD),
        change(&wrong),
        notify("textDocument/didClose", json!({"textDocument": {"uri": FILE}})),
        request(1, "shutdown", Value::Null),
        notify("exit", Value::Null),
    ]);
    assert_eq!(code, 0);
    assert_eq!(said[0]["result"]["capabilities"]["textDocumentSync"], 2);
    let published: Vec<&Value> = said
        .iter()
        .filter(|one| one["method"] == "textDocument/publishDiagnostics")
        .map(|one| &one["params"])
        .collect();
    assert_eq!(published.len(), 3);
    assert_eq!((&published[0]["diagnostics"], &published[2]["diagnostics"]), (&json!([]), &json!([])));
    let mistake = &published[1]["diagnostics"][0];
    // What the command shows, and where: a letter beyond 16 bits counts twice here.
    let expected = polyhedral::parse("", &wrong).unwrap_err();
    assert_eq!(published[1]["diagnostics"].as_array().unwrap().len(), expected.list.len());
    assert_eq!(mistake["code"], expected.list[0].code.to_string());
    assert!(mistake["message"].as_str().unwrap().starts_with(&expected.list[0].message));
    assert_eq!(mistake["range"]["start"], json!({"line": 4, "character": 35}));
    assert_eq!(mistake["range"]["end"], json!({"line": 4, "character": 36}));
    assert_eq!(said.last().unwrap(), &json!({"jsonrpc": "2.0", "id": 1, "result": null}));
}

/// A part of a text in the place of another one, each place as line and UTF-16 units.
fn part(from: (usize, usize), to: (usize, usize), text: &str) -> Value {
    let place = |(line, character): (usize, usize)| json!({"line": line, "character": character});
    json!({"range": {"start": place(from), "end": place(to)}, "text": text})
}

#[test]
fn changes_of_parts_make_the_same_text() {
    let wrong = GOOD.replace("a * (u", "/* \u{1f600} */ w * (u");
    // In two parts: the second one's place is behind what the first one has put in.
    let parts = [
        part((4, 26), (4, 26), "/* \u{1f600} */ "),
        part((4, 35), (4, 36), "w"),
        part((6, 0), (6, 0), "// end"),
        part((6, 0), (99, 0), ""),
    ];
    let document = json!({"uri": FILE, "version": 2});
    let changed =
        notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": parts}));
    let (said, _) = talk(&[begin(), open(GOOD), changed]);
    let (whole, _) = talk(&[begin(), open(GOOD), change(&wrong)]);
    assert_eq!(said, whole);
    assert_eq!(said[2]["params"]["diagnostics"].as_array().unwrap().len(), 1);
}

#[test]
fn names_have_a_meaning() {
    let asked = [
        (1, 9, "Heat in a rod."),
        (2, 10, "field `u` of f32"),
        (2, 5, "changes over time"),
        (3, 10, "parameter `a`, 0.25"),
        (4, 6, "time index"),
        (4, 11, "dimension 0"),
    ];
    let mut messages = vec![begin(), open(GOOD)];
    messages.extend(
        asked.iter().enumerate().map(|(at, &(line, character, _))| hover(at as u32 + 1, line, character)),
    );
    messages.extend([hover(90, 4, 14), hover(91, 99, 0)]);
    let (said, code) = talk(&messages);
    // The client has gone without a word.
    assert_eq!(code, 1);
    for (answer, (.., part)) in said[2..].iter().zip(asked) {
        let text = answer["result"]["contents"]["value"].as_str().unwrap();
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(said[2]["result"]["range"]["start"], json!({"line": 1, "character": 8}));
    assert!(
        said[8..].iter().all(|answer| answer["result"].is_null() && answer["error"].is_null()),
        "{said:?}"
    );
}

#[test]
fn wrong_messages_get_errors_and_the_conversation_goes_on() {
    let mut input = framed(&hover(1, 0, 0).to_string());
    for body in ["{", "[]", "7", "{\"id\": {}}", "\u{ff}", &begin().to_string(), &begin().to_string()] {
        input.extend(framed(body));
    }
    for message in [
        hover(2, 0, 0),
        request(3, "textDocument/hover", json!([])),
        request(4, "textDocument/rename", json!({})),
        notify("textDocument/didOpen", json!({"textDocument": 3})),
        change("x"),
        notify("$/setTrace", json!({})),
        json!({"jsonrpc": "2.0", "id": 9, "result": null}),
        request(5, "shutdown", Value::Null),
        hover(6, 0, 0),
        notify("exit", Value::Null),
    ] {
        input.extend(framed(&message.to_string()));
    }
    let mut output = Vec::new();
    assert_eq!(serve(&mut input.as_slice(), &mut output).unwrap(), 0);
    let codes: Vec<i64> =
        unframed(&output).iter().map(|one| one["error"]["code"].as_i64().unwrap_or(0)).collect();
    let not_ready = -32002;
    assert_eq!(
        codes,
        [not_ready, -32700, -32700, -32700, -32700, -32700, 0, -32600, -32602, -32602, -32601, 0, -32600]
    );
}

#[test]
fn what_is_not_framed_ends_the_conversation() {
    for input in [
        "x",
        "x\r\n\r\n",
        "Content-Length: 5\r\n\r\n{}",
        "Content-Length: -1\r\n\r\n",
        "Content-Length: 99999999999999999999\r\n\r\n",
        "Content-Length: 999999999\r\n\r\n",
        "Content-Type: x\r\n\r\n{}",
        &"x".repeat(5000),
    ] {
        let error = serve(&mut input.as_bytes(), &mut Vec::new()).unwrap_err();
        assert!(
            ["not the Language Server", "failed to fill"].iter().any(|part| error.to_string().contains(part)),
            "{error}"
        );
    }
    assert_eq!(serve(&mut "".as_bytes(), &mut Vec::new()).unwrap(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever comes, the server ends, and what it has said is whole.
    #[test]
    fn broken_conversations_end(cut in 0..2000usize, byte in any::<u8>(), text in ".{0,80}", line in 0..9usize, character in 0..200usize, end in 0..9usize) {
        let parts = json!([part((line, character), (end, character / 2), &text), part((end, 3), (line, character), "\u{1f600}")]);
        let document = json!({"uri": FILE, "version": 3});
        let parts = notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": parts}));
        let messages = [begin(), open(GOOD), change(&(GOOD.to_owned() + &text)), parts.clone(), hover(1, line, character), change(&text), parts, hover(2, line, character)];
        let mut input: Vec<u8> = messages.iter().flat_map(|message| framed(&message.to_string())).collect();
        let at = cut % input.len();
        input[at] = byte;
        let mut output = Vec::new();
        let _ = serve(&mut input.as_slice(), &mut output);
        unframed(&output);
    }
}

/// The grammars for editors know the words that the lexers know, and no others.
#[test]
fn grammars_have_the_words_of_the_lexers() {
    let workspace = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |path: &str| std::fs::read_to_string(workspace.join(path)).unwrap();
    for (language, lexer) in [("stencil", "polyhedral/src/token.rs"), ("nested", "nested/src/token.rs")] {
        let is_word = |text: &str| text.chars().all(|letter| letter.is_ascii_lowercase());
        let lexer = read(lexer);
        let mut known: Vec<&str> = lexer
            .split("#[token(\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .filter(|text| is_word(text))
            .collect();
        let grammar: Value =
            serde_json::from_str(&read(&format!("editors/vscode/syntaxes/{language}.tmLanguage.json")))
                .unwrap();
        let words: Vec<String> = grammar["patterns"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|pattern| {
                let name = pattern["name"].as_str().unwrap_or_default();
                name.starts_with("keyword.declaration") || name.starts_with("constant.language")
            })
            .filter_map(|pattern| {
                pattern["match"].as_str()?.strip_prefix("\\b(")?.strip_suffix(")\\b").map(str::to_owned)
            })
            .collect();
        let words = words.join("|");
        let mut words: Vec<&str> = words.split('|').collect();
        known.sort_unstable();
        words.sort_unstable();
        assert_eq!(words, known, "{language}");
        assert!(known.len() > 5);
    }
}
