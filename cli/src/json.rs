//! JSON documents on stdout.

use serde::Serialize;

/// A value as an indented document that a terminal shows as it is: hidden characters are written as `\u....`. Numbers that JSON cannot hold (infinite, not a number) become `null`.
pub fn text(value: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_else(|error| {
        format!("{{\"error\": {{\"kind\": \"internal\", \"message\": \"{error}\"}}}}")
    });
    text_escape::json(&text).into_owned()
}
