//! `--interactive`: a person decides at each step.

use crate::report::print_stderr;
use std::io::BufRead;
use tuner::Space;
use tuner::searcher::{Choice, Decide, Proposal};

/// Asks on stderr and reads stdin.
pub struct Terminal {
    names: Vec<String>,
}

impl Terminal {
    /// For a space.
    pub fn new(space: &Space) -> Terminal {
        Terminal { names: space.parameters().iter().map(|parameter| parameter.name().to_owned()).collect() }
    }

    /// What an answer means; `None` where it means nothing.
    fn choice(&self, answer: &str, proposal: &Proposal) -> Option<Choice> {
        let answer = answer.trim();
        match answer {
            "" => return Some(Choice::Fix(proposal.fix.clone())),
            "stop" => return Some(Choice::Stop),
            _ => {}
        }
        let places = answer.split([',', ' ']).filter(|name| !name.is_empty()).map(|name| {
            let place = self.names.iter().position(|known| known == name)?;
            proposal.free.contains(&place).then_some(place)
        });
        places.collect::<Option<Vec<usize>>>().map(Choice::Fix)
    }
}

impl Decide for Terminal {
    fn decide(&mut self, proposal: &Proposal) -> Choice {
        print_stderr(&proposal.text);
        let names =
            |places: &[usize]| places.iter().map(|&p| self.names[p].as_str()).collect::<Vec<_>>().join(", ");
        loop {
            print_stderr(&format!(
                "Enter fixes {}; or name the factors to fix (free: {}); or `stop`",
                if proposal.fix.is_empty() { "nothing and ends".to_owned() } else { names(&proposal.fix) },
                names(&proposal.free),
            ));
            let mut line = String::new();
            match std::io::stdin().lock().read_line(&mut line) {
                // Without anybody to ask, the proposal is taken.
                Ok(0) | Err(_) => return Choice::Fix(proposal.fix.clone()),
                Ok(_) => {}
            }
            match self.choice(&line, proposal) {
                Some(choice) => return choice,
                None => print_stderr(&format!("`{}` names something that is no free factor", line.trim())),
            }
        }
    }
}
