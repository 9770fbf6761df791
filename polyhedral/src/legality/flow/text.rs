//! Constraints as text, in isl's notation.

/// All of them hold.
pub fn all(constraints: impl IntoIterator<Item = String>) -> String {
    let constraints: Vec<String> = constraints.into_iter().filter(|text| text != "1 = 1").collect();
    if constraints.iter().any(|text| text == "1 = 0") {
        return "1 = 0".to_owned();
    }
    let constraints: Vec<String> = constraints.into_iter().map(|text| format!("({text})")).collect();
    if constraints.is_empty() { "1 = 1".to_owned() } else { constraints.join(" and ") }
}

/// One of them holds.
pub fn any(constraints: impl IntoIterator<Item = String>) -> String {
    let constraints: Vec<String> = constraints.into_iter().collect();
    if constraints.iter().any(|text| text == "1 = 1") {
        return "1 = 1".to_owned();
    }
    let constraints: Vec<String> =
        constraints.into_iter().filter(|text| text != "1 = 0").map(|text| format!("({text})")).collect();
    if constraints.is_empty() { "1 = 0".to_owned() } else { constraints.join(" or ") }
}

/// Two vectors are equal.
pub fn equal(a: &[String], b: &[String]) -> String {
    let pairs = a.iter().zip(b);
    if pairs.clone().any(|(a, b)| constant(a).zip(constant(b)).is_some_and(|(a, b)| a != b)) {
        return "1 = 0".to_owned();
    }
    all(pairs.filter(|(a, b)| a != b).map(|(a, b)| format!("({a}) = ({b})")))
}

/// The first vector is lexicographically greater than the second, or equal.
pub fn later_or_equal(a: &[String], b: &[String]) -> String {
    let Some((first, second)) = a.first().zip(b.first()) else { return "1 = 1".to_owned() };
    let rest = later_or_equal(&a[1..], &b[1..]);
    if let Some((first, second)) = constant(first).zip(constant(second)) {
        return match first.cmp(&second) {
            std::cmp::Ordering::Less => "1 = 0".to_owned(),
            std::cmp::Ordering::Equal => rest,
            std::cmp::Ordering::Greater => "1 = 1".to_owned(),
        };
    }
    if first == second {
        return rest;
    }
    if rest == "1 = 0" {
        return format!("({first}) > ({second})");
    }
    any([format!("({first}) > ({second})"), all([format!("({first}) = ({second})"), rest])])
}

/// The same where numbers from this one on order what one member of a team does, and nothing orders different members.
pub fn later_or_equal_in_team(a: &[String], b: &[String], member: usize) -> String {
    match (member, a, b) {
        (0, [own, ..], [other, ..]) => {
            let rest = later_or_equal(&a[1..], &b[1..]);
            if own == other { rest } else { any([format!("({own}) != ({other})"), rest]) }
        }
        (_, [first, ..], [second, ..]) => {
            let rest = later_or_equal_in_team(&a[1..], &b[1..], member - 1);
            if first == second {
                return rest;
            }
            any([format!("({first}) > ({second})"), all([format!("({first}) = ({second})"), rest])])
        }
        _ => "1 = 1".to_owned(),
    }
}

fn constant(text: &str) -> Option<i64> {
    text.parse().ok()
}

/// The constraints of which a text says that all hold: what stands between its outermost `and`s.
pub fn conjuncts(text: &str) -> Vec<&str> {
    let text = text.trim();
    let (mut depth, mut start, mut parts) = (0_i32, 0, Vec::new());
    let bytes = text.as_bytes();
    let mut around = bytes.first() == Some(&b'(');
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            'o' if depth == 0 && text[at..].starts_with("or ") && at > 0 && bytes[at - 1] == b' ' => {
                return vec![text];
            }
            'a' if depth == 0 && text[at..].starts_with("and ") && at > 0 && bytes[at - 1] == b' ' => {
                parts.push(&text[start..at]);
                start = at + "and ".len();
            }
            _ => {}
        }
        around &= depth > 0 || at + 1 == text.len();
    }
    if around && parts.is_empty() {
        return conjuncts(&text[1..text.len() - 1]);
    }
    parts.push(&text[start..]);
    parts.iter().map(|part| part.trim()).collect()
}

/// The text with its names replaced, where there is a replacement.
pub fn renamed(text: &str, replacement: &dyn Fn(&str) -> Option<String>) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_alphabetic() || letter == '_') {
        result.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let name = &rest[..end.unwrap_or(rest.len())];
        result.push_str(&replacement(name).unwrap_or_else(|| name.to_owned()));
        rest = &rest[name.len()..];
    }
    result.push_str(rest);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(parts: &[&str]) -> Vec<String> {
        parts.iter().map(|part| (*part).to_owned()).collect()
    }

    #[test]
    fn constants_are_compared_at_once() {
        assert_eq!(later_or_equal(&texts(&["1", "m"]), &texts(&["0", "k"])), "1 = 1");
        assert_eq!(later_or_equal(&texts(&["0", "m"]), &texts(&["1", "k"])), "1 = 0");
        assert_eq!(later_or_equal(&texts(&["m", "0"]), &texts(&["k", "1"])), "(m) > (k)");
        assert_eq!(equal(&texts(&["m", "0"]), &texts(&["m", "0"])), "1 = 1");
        assert_eq!(equal(&texts(&["m", "0"]), &texts(&["m", "2"])), "1 = 0");
    }

    #[test]
    fn conjunctions_fall_into_their_parts() {
        let text =
            "((a >= 1) and (0 <= b < c and (d = 1 or e = 2))) and (floor((f + 1)/2) > 3) and not (g = 1)";
        let parts =
            ["((a >= 1) and (0 <= b < c and (d = 1 or e = 2)))", "(floor((f + 1)/2) > 3)", "not (g = 1)"];
        assert_eq!(conjuncts(text), parts);
        assert_eq!(conjuncts(parts[0]), ["(a >= 1)", "(0 <= b < c and (d = 1 or e = 2))"]);
        assert_eq!(conjuncts("(a = 1) or (b = 2) and (c = 3)"), ["(a = 1) or (b = 2) and (c = 3)"]);
        assert_eq!(conjuncts("(a + 1) = (b)"), ["(a + 1) = (b)"]);
        assert_eq!(conjuncts("1 = 1"), ["1 = 1"]);
    }

    #[test]
    fn names_are_replaced_whole() {
        let replacement = |name: &str| (name == "m").then(|| "(m + 1)".to_owned());
        assert_eq!(
            renamed("2*m + mm - floor((m)/3) m", &replacement),
            "2*(m + 1) + mm - floor(((m + 1))/3) (m + 1)"
        );
    }
}
