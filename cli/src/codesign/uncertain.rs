//! How sure the answer is: what varies, and what it says on a terminal.

use super::arguments::CodesignArguments;
use crate::error::{Error, Result};
use crate::report;
use execution::ExecutionError;
use optimizer::codesign::setting::Setting;
use optimizer::codesign::uncertainty::{DesignUnderUncertainty, Ranges, Uncertainty};
use std::path::Path;

/// Largest file of ranges.
const MOST_BYTES: u64 = 1 << 20;

/// What varies; `None` where nobody asked.
pub(super) fn ranges(arguments: &CodesignArguments, setting: &Setting) -> Result<Option<Ranges>> {
    let Some(spec) = &arguments.uncertainty else { return Ok(None) };
    if spec == "default" {
        return Ok(Some(Ranges::usual(setting)));
    }
    let path = Path::new(spec);
    let failed = |source| ExecutionError::File { action: "read", path: path.to_owned(), source };
    let text = safe_io::input::read_text(path, MOST_BYTES).map_err(failed)?;
    let read = Ranges::parse(&text, setting).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(|problem| format!("{spec}:{problem}")).collect();
        Error::wrong_input(lines.join("\n")).hint("docs/codesign.md describes files of ranges")
    })?;
    Ok(Some(read))
}

/// For a terminal.
pub(super) fn text(own: &Uncertainty) -> String {
    let row = |role: &str, design: &DesignUnderUncertainty| {
        vec![
            role.to_owned(),
            design.design.to_string(),
            format!("{:.0} %", 100.0 * design.best),
            format!("{:.1} %", 100.0 * design.mean_regret),
            format!("{:.1} %", 100.0 * design.regret_95),
            format!("{:.1} %", 100.0 * design.most_regret),
        ]
    };
    let rows = [
        row("best as it is", &own.nominal),
        row("least mean regret", &own.least_mean),
        row("least greatest regret", &own.robust),
    ];
    let header = ["uncertain constants", "design", "is best", "regret", "95 of 100", "at most"];
    let table = report::table(&header, &rows, &[2, 3, 4, 5]);
    let first = own.constants.first();
    let measure = first.filter(|first| first.value_of_knowing > 0.0).map_or(
        "no single constant would change the choice much".to_owned(),
        |first| {
            format!(
                "{} decides most: knowing it takes {:.2} % off the mean regret",
                first.constant,
                100.0 * first.value_of_knowing
            )
        },
    );
    format!(
        "{table}\n{measure}; {} samples, seed {}; on the few samples where an exact search was made, tiles of the pool cost at most {:.2} % \
         more\n",
        own.samples,
        own.seed,
        100.0 * own.pool_gap
    )
}
