//! JSON documents: what `--json` prints, and those that commands write to files.
//!
//! Every document says what it is: its first key, `schema`, holds a name and a version, such as `tilewright.run/1`. The
//! version grows where a key goes away or changes its meaning; keys may be added at any time.

use serde::Serialize;

/// The `schema` of what is printed where a command has no report.
pub const ERROR_SCHEMA: &str = "tilewright.error/1";

/// A document: which schema it follows, and its keys.
#[derive(Serialize)]
struct Document<'a, T> {
    schema: &'static str,
    #[serde(flatten)]
    content: &'a T,
}

/// A value with named parts as an indented document of this schema. Numbers that JSON cannot hold (infinite, not a
/// number) become `null`, and characters that a terminal would hide `\u....`.
pub fn document(schema: &'static str, content: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(&Document { schema, content }).unwrap_or_else(|error| {
        let error = serde_json::Value::from(error.to_string());
        format!(
            "{{\"schema\": \"{ERROR_SCHEMA}\", \"error\": {{\"kind\": \"internal\", \"message\": {error}}}}}"
        )
    });
    text_escape::json(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_begin_with_their_schema() {
        #[derive(Serialize)]
        struct Numbers {
            finite: f64,
            infinite: f64,
        }
        let text = document("tilewright.numbers/1", &Numbers { finite: 0.5, infinite: f64::INFINITY });
        assert!(text.starts_with("{\n  \"schema\": \"tilewright.numbers/1\",\n"), "{text}");
        let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        assert_eq!((&value["finite"], &value["infinite"]), (&0.5.into(), &serde_json::Value::Null));
        // What has no keys cannot carry one more.
        assert!(document("tilewright.numbers/1", &1).starts_with("{\"schema\": \"tilewright.error/1\""));
    }
}
