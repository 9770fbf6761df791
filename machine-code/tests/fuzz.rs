//! No text makes the reader or the runner panic.

use machine_code::{Launch, Listing, run};
use proptest::prelude::*;

const KERNELS: &str = include_str!("listings/kernels-sm_90.txt");

/// Reads a text, and runs what is in it for a while.
fn survives(text: &str) {
    let Ok(listing) = Listing::parse(text) else { return };
    let Ok(launch) = Launch::new(&listing, [40, 1, 1], [1, 1, 1], vec![1 << 40, 3], false) else { return };
    for code in &listing.kernels {
        if let Ok(counts) = run::block(code, &launch, [0, 0, 0], &|| true) {
            let _ = counts.totals(code).instructions();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_text(text in "\\PC{0,200}") {
        survives(&text);
        survives(&format!("\t.target\tsm_90\n\t.section\t.text.k,\"ax\"\n/*0000*/ {text} ;"));
    }

    /// A listing with some of its characters changed.
    #[test]
    fn a_listing_with_mistakes(changes in prop::collection::vec((0usize..16_000, "[ -~]"), 1..20)) {
        let mut text: Vec<u8> = KERNELS.bytes().collect();
        for (at, change) in changes {
            let length = text.len();
            text[at % length] = change.as_bytes()[0];
        }
        survives(&String::from_utf8_lossy(&text));
    }

    /// Operands of one instruction as those of another one.
    #[test]
    fn operands_in_other_places(
        line in 0usize..300,
        opcode in "(IMAD(\\.WIDE|\\.HI)?(\\.U32)?(\\.X)?|LEA(\\.HI)?(\\.X)?|SHF\\.[LR]\\.[US](32|64)(\\.HI)?|PRMT|BRX|LDS\\.128|STL|SHFL\\.(UP|DOWN|IDX|BFLY)|R2P|BMOV\\.32|DSETP\\.LT\\.AND|F2I\\.S64|I2F\\.RP)",
        operands in prop::collection::vec(
            "(R[0-9]{1,3}|RZ|-?0x[0-9a-f]{1,16}|UR[0-9]|P[0-6]|PT|B[0-9]{1,2}|\\[R[0-9](\\.64|\\.X8)?\\+-?0x[0-9a-f]{1,9}\\]|c\\[0x0\\]\\[R?[0-9]{1,4}\\]|-\\|R3\\||PR)",
            0..7,
        ),
    ) {
        let lines = KERNELS.lines().enumerate().map(|(number, old)| match old.split_once("*/") {
            Some((address, _)) if number == line => format!("{address}*/ {opcode} {} ;", operands.join(", ")),
            _ => old.to_owned(),
        });
        survives(&lines.collect::<Vec<_>>().join("\n"));
    }
}
