//! Where a line that is too long is broken, after Wadler, "A prettier printer" (2003).

/// A piece of text with places where it may be broken.
#[derive(Debug, Clone)]
pub enum Doc {
    /// Words that stay together.
    Text(String),
    /// A blank; the end of a line, where what follows up to the next such place does not fit.
    Blank,
    /// Nothing; the end of a line where what follows does not fit.
    Joint,
    /// One after the other.
    All(Vec<Doc>),
    /// In one line if it fits there, and otherwise each line after the first one further to the right.
    Group(Box<Doc>),
}

impl Doc {
    /// Words that stay together.
    pub fn text(text: impl Into<String>) -> Doc {
        Doc::Text(text.into())
    }

    /// Parts with a separator behind each but the last one, in a group.
    pub fn list(parts: impl IntoIterator<Item = Doc>, separator: &str) -> Doc {
        let mut all = Vec::new();
        for part in parts {
            if !all.is_empty() {
                all.extend([Doc::text(separator), Doc::Blank]);
            }
            all.push(part);
        }
        Doc::Group(Box::new(Doc::All(all)))
    }
}

/// How far a line that continues another one is to the right of it.
const CONTINUED: usize = 8;
/// How much further it is for each group that is broken around it.
const DEEPER: usize = 4;

struct Item<'a> {
    doc: &'a Doc,
    /// Groups that are broken around it.
    depth: usize,
    flat: bool,
}

/// The lines of a text, none of them longer than `columns` where places for breaks allow it, and all but the first one
/// with blanks in front.
pub fn lines(doc: &Doc, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    let mut rest = vec![Item { doc, depth: 0, flat: false }];
    while let Some(Item { doc, depth, flat }) = rest.pop() {
        let line = lines.len() - 1;
        match doc {
            Doc::Text(text) => {
                lines[line].push_str(text);
                used += text.chars().count();
            }
            Doc::All(parts) => rest.extend(parts.iter().rev().map(|doc| Item { doc, depth, flat })),
            Doc::Group(inner) => {
                let flat = flat || fits(inner, &rest, columns.saturating_sub(used));
                rest.push(Item { doc: inner, depth: depth + usize::from(!flat), flat });
            }
            Doc::Blank | Doc::Joint => {
                let blank = usize::from(matches!(doc, Doc::Blank));
                if flat || follows(&rest, columns.saturating_sub(used + blank)) {
                    lines[line].push_str(&" ".repeat(blank));
                    used += blank;
                } else {
                    let indent = CONTINUED + DEEPER * depth.saturating_sub(1);
                    lines.push(" ".repeat(indent));
                    used = indent;
                }
            }
        }
    }
    for line in &mut lines {
        line.truncate(line.trim_end().len());
    }
    lines
}

/// Whether a group fits in one line, with what must follow it there.
fn fits(group: &Doc, rest: &[Item<'_>], room: usize) -> bool {
    let mut stack = vec![(group, true)];
    measure(&mut stack, rest, room)
}

/// Whether what comes up to the next place for a break fits.
fn follows(rest: &[Item<'_>], room: usize) -> bool {
    measure(&mut Vec::new(), rest, room)
}

fn measure<'a>(stack: &mut Vec<(&'a Doc, bool)>, rest: &[Item<'a>], mut room: usize) -> bool {
    let mut rest = rest.iter().rev();
    loop {
        let (doc, flat) = match stack.pop() {
            Some(next) => next,
            None => match rest.next() {
                Some(item) => (item.doc, item.flat),
                None => return true,
            },
        };
        match doc {
            Doc::Text(text) => match room.checked_sub(text.chars().count()) {
                Some(left) => room = left,
                None => return false,
            },
            Doc::All(parts) => stack.extend(parts.iter().rev().map(|part| (part, flat))),
            Doc::Group(inner) => stack.push((inner, true)),
            Doc::Blank | Doc::Joint if !flat => return true,
            Doc::Blank => match room.checked_sub(1) {
                Some(left) => room = left,
                None => return false,
            },
            Doc::Joint => {}
        }
    }
}
