//! Names of strategies for shells and help; [`tilewright::strategies`] looks them up.

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use hhc_codegen::strategy::{self, AUTO, Strategy};
use optimizer::codesign::workload;
use std::ffi::OsStr;

/// Takes any text, so that [`tilewright::strategies::named`] says what is wrong with it, and lists the names for help and completion.
#[derive(Debug, Clone)]
pub struct NameParser {
    /// The strategies that help and completion name.
    pub strategies: fn() -> Vec<&'static dyn Strategy>,
    /// What a word other than a strategy's name may be.
    pub others: &'static [&'static str],
}

impl NameParser {
    /// The name of a strategy, or `auto`.
    pub const OR_AUTO: NameParser = NameParser { strategies: || strategy::all().to_vec(), others: &[AUTO] };
    /// The name of a strategy that codesign can choose.
    pub const OF_CODESIGN: NameParser =
        NameParser { strategies: || workload::strategies().collect(), others: &[] };
}

impl TypedValueParser for NameParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> std::result::Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let described =
            |strategy: &'static dyn Strategy| PossibleValue::new(strategy.id()).help(strategy.description());
        let others = self.others.iter().map(|name| PossibleValue::new(*name).help("leave the choice to us"));
        Some(Box::new((self.strategies)().into_iter().map(described).chain(others)))
    }
}
