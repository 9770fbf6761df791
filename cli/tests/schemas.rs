//! Files follow their JSON Schemas.

use crate::documents::SPACE;
use crate::support::{Folder, tilewright};
use serde_json::Value;
use std::path::Path;

/// The JSON Schema of space files and the reader agree on what is a space.
#[test]
fn space_files_follow_their_schema() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let schema = parse(&read("docs/schemas/space.schema.json"));
    let folder = Folder::new();
    let accepted = |text: &str| {
        let space = folder.write("space.json", text);
        let search =
            ["search", "--space", &space, "--command", "echo 1", "--method", "random", "--budget", "1"];
        tilewright(&search).code == 0
    };
    let manual = read("docs/tuning.md");
    let shown = manual.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let example = read("examples/transpose.json");
    assert_eq!(parse(shown), parse(&example), "docs/tuning.md shows examples/transpose.json");
    let parameter = |text: &str| format!("{{\"ConfigurationSpace\": {{\"TuningParameters\": [{text}]}}}}");
    let level = r#"{"Name": "a", "Values": [1, 2.5, "x", true]}"#;
    let with = |conditions: &str| {
        let space = "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"a\", \"Values\": [1, 2]}], \"Conditions\": ";
        format!("{space}{conditions}}}}}")
    };
    for (text, valid) in [
        (example, true),
        (SPACE.to_owned(), true),
        (parameter(level), true),
        (parameter(r#"{"Name": "a", "Values": "[1, 2]"}"#), true),
        (with(r#"[{"Expression": "a > 1"}]"#), true),
        (with("[]"), true),
        ("{}".to_owned(), false),
        (r#"{"ConfigurationSpace": {}}"#.to_owned(), false),
        (parameter(""), false),
        (parameter(r#"{"Values": [1]}"#), false),
        (parameter(r#"{"Name": "", "Values": [1]}"#), false),
        (parameter(r#"{"Name": "a"}"#), false),
        (parameter(r#"{"Name": "a", "Values": []}"#), false),
        (parameter(r#"{"Name": "a", "Values": [[1]]}"#), false),
        (parameter(r#"{"Name": "a", "Values": 3}"#), false),
        (with(r#"[{"Parameters": ["a"]}]"#), false),
        (with(r#"["a > 1"]"#), false),
    ] {
        let found = violation(&parse(&text), &schema, "");
        assert_eq!(found.is_none(), valid, "the schema, of {text}: {found:?}");
        assert_eq!(accepted(&text), valid, "the reader, of {text}");
    }
}

/// Models of all kinds follow their JSON Schema.
#[test]
fn models_follow_their_schema() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let parse = |text: String| serde_json::from_str::<Value>(&text).unwrap();
    let schema =
        parse(std::fs::read_to_string(root.join("docs/schemas/adaptive-model.schema.json")).unwrap());
    let folder = Folder::new();
    let (table, model) = (root.join("examples/sorting.csv"), folder.arg("model.json"));
    for kind in ["svm", "tree", "forest"] {
        let train = ["adaptive", "train", table.to_str().unwrap(), "--classifier", kind, "-o", &model];
        tilewright(&train).succeeded();
        let mut document = parse(std::fs::read_to_string(&model).unwrap());
        assert_eq!(violation(&document, &schema, ""), None, "{kind}");
        document["model"]["classifier"] = serde_json::json!({"kind": kind});
        assert!(violation(&document, &schema, "").is_some());
    }
}

/// Where a value breaks a JSON Schema, for the keywords that ours have.
fn violation(value: &Value, schema: &Value, place: &str) -> Option<String> {
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("the type {other}"),
    };
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let length = value.as_str().map(|text| text.chars().count()).or(value.as_array().map(Vec::len));
    schema.as_object().unwrap().iter().find_map(|(key, rule)| {
        let broken = || Some(format!("{place}: {key} {rule}"));
        match key.as_str() {
            "$schema" | "title" | "description" => None,
            "type" => {
                let names = if rule.is_array() { list(rule) } else { vec![rule.clone()] };
                if names.iter().any(|name| is(name.as_str().unwrap())) { None } else { broken() }
            }
            "required" if value.is_object() => list(rule)
                .iter()
                .find(|name| value.get(name.as_str().unwrap()).is_none())
                .and_then(|_| broken()),
            "minItems" | "minLength" => {
                length.filter(|&length| (length as u64) < rule.as_u64().unwrap()).and_then(|_| broken())
            }
            "properties" => rule.as_object().unwrap().iter().find_map(|(name, rule)| {
                value.get(name).and_then(|part| violation(part, rule, &format!("{place}/{name}")))
            }),
            "items" => list(value).iter().find_map(|part| violation(part, rule, &format!("{place}/*"))),
            "anyOf" if list(rule).iter().all(|rule| violation(value, rule, place).is_some()) => broken(),
            "required" | "anyOf" => None,
            other => panic!("the keyword {other}"),
        }
    })
}
