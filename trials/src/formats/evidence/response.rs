//! What counts.

use super::gathered::{Evidence, Role};
use crate::formats::names::Measured;
use crate::formats::roles::ReadOptions;

impl Evidence<'_> {
    /// What counts, and shows that a trial succeeded. `Err` has the reason why nobody can say, where it is asked for.
    pub fn response(
        &mut self,
        options: &ReadOptions,
        own: bool,
    ) -> std::result::Result<Option<usize>, String> {
        if self.given.response.is_some() {
            return Ok(self.given.response);
        }
        if self.is_of_designs() && self.given.metrics.is_empty() {
            // What the study has minimised.
            return Ok(self.sheet.header.iter().position(|name| name == "cost"));
        }
        if !options.no_response {
            return self.usual_response(own);
        }
        match self.given.metrics.first() {
            Some(first) => Ok(Some(*first)),
            None => Ok(self.usual_response(own).unwrap_or(None)),
        }
    }

    /// The response where none is named.
    fn usual_response(&mut self, own: bool) -> std::result::Result<Option<usize>, String> {
        let mut metrics = self.with_role(|role| matches!(role, Role::Metric(..)));
        if own {
            return Ok(metrics.first().copied());
        }
        if metrics.is_empty() && self.given.parameters.is_some() {
            // What is left if the parameters are stated: a single column of numbers can only be the metric.
            let left =
                self.with_role(|role| matches!(role, Role::Ignored(why) if why == "not among --parameters"));
            let left: Vec<usize> = left.into_iter().filter(|&c| self.looks[c].has_numbers()).collect();
            if let [only] = left.as_slice() {
                self.roles[*only] =
                    Role::Metric(Measured::Other, "the only other column with numbers".to_owned());
                metrics = left;
            }
        }
        let kind = |column: usize| match self.roles[column] {
            Role::Metric(kind, _) => kind,
            _ => Measured::Other,
        };
        let of = |wanted: Measured| -> Vec<usize> {
            metrics.iter().copied().filter(|&column| kind(column) == wanted).collect()
        };
        let (times, others) = (of(Measured::Time), of(Measured::Other));
        let plain = times.iter().copied().find(|&column| self.name(column).eq_ignore_ascii_case("time"));
        match (times.as_slice(), others.as_slice(), metrics.is_empty()) {
            ([only], _, _) => Ok(Some(*only)),
            ([_, _, ..], _, _) if plain.is_some() => Ok(plain),
            ([], [only], _) if metrics.len() == 1 => Ok(Some(*only)),
            (_, _, true) => Err("no column has the name of a measured quantity".to_owned()),
            _ => {
                let names: Vec<String> = metrics.iter().map(|&c| format!("`{}`", self.name(c))).collect();
                Err(match names.as_slice() {
                    [only] => format!("{only} is a rate, of which the least is hardly wanted"),
                    _ => format!("which of {} counts is not said", names.join(", ")),
                })
            }
        }
    }
}
