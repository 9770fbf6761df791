//! Text that kernels of all kinds have in common.

use crate::geometry::Threads;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct BindingText {
    pub(super) name: &'static str,
    pub(super) value: String,
    pub(super) comment: String,
}

/// `name`, `name_2`, ..
pub(super) fn suffixed(name: &str, index: usize) -> String {
    if index == 0 { name.to_string() } else { format!("{name}_{}", index + 1) }
}

/// The declarations `const int thread0 = threadIdx.z;`, as far as there is more than one thread.
pub(super) fn thread_declarations(threads: &Threads) -> Vec<String> {
    let dimension = threads.per_dimension.len();
    (threads.per_dimension.iter().enumerate())
        .map(|(d, &count)| {
            let value = if count == 1 {
                "0".to_string()
            } else {
                format!("(int)threadIdx.{}", ["x", "y", "z"][dimension - 1 - d])
            };
            format!("const int thread{d} = {value};")
        })
        .collect()
}

/// `name + shift`, without a sum of zero.
pub(super) fn shifted(name: &str, shift: i64) -> String {
    match shift {
        0 => name.to_string(),
        1.. => format!("{name} + {shift}"),
        _ => format!("{name} - {}", -shift),
    }
}

/// ` + 3`, ` - 3`, or nothing.
pub(super) fn signed(value: i64) -> String {
    match value {
        0 => String::new(),
        1.. => format!(" + {value}"),
        _ => format!(" - {}", -value),
    }
}
