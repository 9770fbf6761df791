//! Single instructions and errors, in listings written here.

use machine_code::{Error, Kind, Launch, Listing, SECTOR, Totals, run};

const ARRAY: u64 = 1 << 40;

/// A listing with this code; lines that end with a colon are labels.
fn listing(lines: &[&str]) -> String {
    let mut text = "\t.target\tsm_90\n\t.section\t.text.k,\"ax\",@progbits\n.text.k:\n".to_owned();
    let mut address = 0;
    for line in lines {
        if line.ends_with(':') {
            text += &format!("{line}\n");
        } else {
            text += &format!("        /*{address:04x}*/                   {line} ;\n");
            address += 16;
        }
    }
    text
}

fn totals(lines: &[&str]) -> Result<(Totals, Vec<u64>), Error> {
    let listing = Listing::parse(&listing(lines))?;
    let code = listing.kernel("k")?;
    let launch = Launch::new(&listing, [32, 1, 1], [1, 1, 1], vec![ARRAY, 5], false)?;
    let counts = run::block(code, &launch, [0, 0, 0], &|| false)?;
    Ok((counts.totals(code), counts.sectors_written))
}

/// Stores to the array at eight times `R0`, and ends. The value is the sectors that the lanes reach, from the array's start.
fn stored(lines: &[&str]) -> Vec<u64> {
    let tail =
        ["LDC.64 R2, c[0x0][0x210]", "IMAD.WIDE R2, R0, 0x20, R2", "STG.E desc[UR4][R2.64], RZ", "EXIT"];
    let sectors = totals(&[lines, &tail[..]].concat()).unwrap().1;
    sectors.into_iter().map(|sector| sector.wrapping_sub(ARRAY / SECTOR)).collect()
}

fn error(lines: &[&str]) -> String {
    totals(lines).unwrap_err().to_string()
}

#[test]
fn an_unknown_opcode_is_named_with_its_line() {
    let found = error(&["S2R R0, SR_TID.X", "FROB.WIDE R1, R0", "EXIT"]);
    assert!(found.contains("line 5") && found.contains("`FROB.WIDE`"), "{found}");
    // A modifier may change everything.
    let found = error(&["IADD3.SAT R1, R0, R0, RZ", "EXIT"]);
    assert!(found.contains("line 4") && found.contains("`IADD3.SAT`"), "{found}");
    for line in ["IADD3 R1, R0", "MOV R1, Q7", "IMAD R1, R0, [R2], R3", "BRA 0x10"] {
        let found = error(&[line, "EXIT"]);
        assert!(found.contains("line 4"), "{line}: {found}");
    }
}

#[test]
fn addresses_do_not_depend_on_values() {
    let lines = [
        "LDC.64 R2, c[0x0][0x210]",
        "LDG.E R4, desc[UR4][R2.64]",
        "IMAD.WIDE R2, R4, 0x4, R2",
        "STG.E desc[UR4][R2.64], RZ",
    ];
    let found = error(&lines);
    assert!(found.contains("line 7") && found.contains("depends on values"), "{found}");
    // Bytes beside others that are data are none.
    let lines = [
        "LDC.64 R2, c[0x0][0x210]",
        "LDG.E R4, desc[UR4][R2.64]",
        "PRMT R4, RZ, 0x7610, R4",
        "LOP3.LUT R0, R4, 0xff, RZ, 0xc0, !PT",
        "IMAD.WIDE R2, R0, 0x4, R2",
        "STG.E desc[UR4][R2.64], RZ",
        "EXIT",
    ];
    assert_eq!(totals(&lines).unwrap().1, [ARRAY / SECTOR]);
    assert!(error(&["LDC R4, c[0x0][0x400]"]).contains("c[0x0][0x400]"));
    // A branch may: the way of ordinary numbers is taken, and counted as such.
    let lines = [
        "LDC.64 R2, c[0x0][0x210]",
        "LDG.E R4, desc[UR4][R2.64]",
        "FSETP.GTU.FTZ.AND P0, PT, |R4|, +INF , PT",
        "@P0 BRA `(.L_x_1)",
        "MUFU.RSQ R5, -QNAN ",
        ".L_x_1:",
        "EXIT",
    ];
    let (totals, _) = totals(&lines).unwrap();
    assert_eq!(
        (totals.branches_on_values, totals.instructions(), totals.of(Kind::Function)),
        (1.0, 6.0, 1.0)
    );
}

/// What comparisons say of numbers that are none; two of them ask for nothing else.
#[test]
fn comparisons_know_what_is_no_number() {
    let (one, none) = ("0x3f800000", "0x7fc00000");
    for (comparison, of_numbers, of_others) in [
        ("NUM", true, false),
        ("NAN", false, true),
        ("GE", true, false),
        ("GEU", true, true),
        ("GT", false, false),
        ("GTU", false, true),
        ("F", false, false),
        ("T", true, true),
    ] {
        for (other, expected) in [(one, of_numbers), (none, of_others)] {
            let lines = [
                &format!("MOV R4, {one}"),
                &format!("MOV R5, {other}"),
                &format!("FSETP.{comparison}.AND P0, PT, R4, R5, PT"),
                "@P0 BRA `(.L_x_1)",
                "NOP",
                ".L_x_1:",
                "EXIT",
            ];
            let issued = totals(&lines).unwrap().0.instructions();
            assert_eq!(issued, if expected { 5.0 } else { 6.0 }, "{comparison} {other}");
        }
    }
}

/// A division by a constant is the upper half of a product, one by a variable begins with a conversion that is rounded up. Before
/// a loop neither counts, in its four rounds each does.
#[test]
fn divisions_in_loops_are_found() {
    let divisions = |before: &[&str], within: &[&str]| {
        let begin = ["MOV R0, RZ", "S2R R3, SR_TID.X"];
        let head = [".L_x_0:"];
        let tail = ["IADD3 R0, R0, 0x1, RZ", "ISETP.LT.AND P0, PT, R0, 0x4, PT", "@P0 BRA `(.L_x_0)", "EXIT"];
        totals(&[&begin, before, &head, within, &tail].concat()).unwrap().0.divisions
    };
    let others = ["IMAD.WIDE R4, R3, 0x4, RZ", "IMAD R6, R3, 0x7, R0", "I2F.U32 R7, R3"];
    assert_eq!(divisions(&others, &others), 0.0);
    for divides in
        ["IMAD.HI R4, R3, 0x4ec4ec4f, RZ", "IMAD.HI.U32 R4, R3, 0x55555556, RZ", "I2F.U32.RP R4, R3"]
    {
        assert_eq!(divisions(&[divides], &[]), 0.0, "{divides}");
        assert_eq!(divisions(&[], &[divides]), 4.0, "{divides}");
    }
}

#[test]
fn what_never_ends_is_stopped() {
    let lines = ["NOP", ".L_x_0:", "BRA `(.L_x_0)"];
    let text = listing(&lines);
    let listing = Listing::parse(&text).unwrap();
    let launch = Launch::new(&listing, [32, 1, 1], [1, 1, 1], Vec::new(), false).unwrap();
    assert!(run::block(&listing.kernels[0], &launch, [0, 0, 0], &|| true).is_err());
    assert!(error(&["NOP"]).contains("ends here"));
    assert!(error(&["BRA `(.L_x_9)"]).contains("nowhere"));
    // A region whose lanes were told to wait for others that are gone from it is left; one that waits for ever is an error.
    let waits = [
        "S2R R0, SR_TID.X",
        "ISETP.LT.AND P0, PT, R0, 0x4, PT",
        "@P0 BRA `(.L_x_1)",
        "WARPSYNC 0xffffffff",
        "EXIT",
    ];
    let other = [".L_x_1:", "BSSY B0, `(.L_x_1)", "BMOV.32 B0, R4", "WARPSYNC 0xffffffff", "EXIT"];
    assert!(error(&[&waits[..], &other[..]].concat()).contains("never come"));
}

#[test]
fn integers_lead_to_the_right_places() {
    let id = "S2R R0, SR_TID.X";
    let lanes: Vec<u64> = (0..32).collect();
    assert_eq!(stored(&[id]), lanes);
    assert_eq!(stored(&[id, "LOP3.LUT R0, R0, 0x6, RZ, 0xc0, !PT"]), [0, 2, 4, 6]);
    assert_eq!(stored(&[id, "SHF.R.U32.HI R0, RZ, 0x3, R0"]), [0, 1, 2, 3]);
    assert_eq!(stored(&[id, "IMNMX R0, R0, 0x3, PT"]), [0, 1, 2, 3]);
    assert_eq!(stored(&[id, "VIADDMNMX R0, R0, -0x1e, RZ, !PT"]), [0, 1]);
    // The least and the greatest of three: of numbers with a sign -5 is the least one, of others the greatest.
    let negative = ["MOV R1, 0xfffffffb", "UMOV UR6, 0x3"];
    let of_three = |extreme: &str, after: &str| stored(&[&[id], &negative[..], &[extreme, after]].concat());
    assert_eq!(of_three("VIMNMX3 R0, R0, UR6, R0, PT", "NOP"), [0, 1, 2, 3]);
    assert_eq!(of_three("VIMNMX3 R0, R0, UR6, R1, !PT", "NOP"), lanes[3..]);
    assert_eq!(of_three("VIMNMX3 R0, R0, 0x3, R1, PT", "VIADD R0, R0, 0x7"), [2]);
    assert_eq!(of_three("VIMNMX3.U32 R0, R0, 0x3, R1, PT", "NOP"), [0, 1, 2, 3]);
    assert_eq!(of_three("VIMNMX3.U32 R0, R1, 0x3, R0, !PT", "VIADD R0, R0, 0x7"), [2]);
    assert!(error(&[id, "VIMNMX3.RELU R0, R0, R0, R0, PT", "EXIT"]).contains("`VIMNMX3.RELU`"));
    assert_eq!(stored(&[id, "VIADD R0, R0, 0x1", "FLO.U32 R0, R0"]), [0, 1, 2, 3, 4, 5]);
    assert_eq!(stored(&[id, "POPC R0, R0"]), [0, 1, 2, 3, 4, 5]);
    assert_eq!(stored(&[id, "IADD3 R0, -R0, 0x10, RZ", "IABS R0, R0"]), (0..=16).collect::<Vec<_>>());
    assert_eq!(stored(&[id, "SGXT.U32 R0, R0, 0x2"]), [0, 1, 2, 3]);
    assert_eq!(stored(&[id, "PRMT R0, R0, 0x7771, RZ"]), [0]);
    // A lane's number from another lane, and how many lanes agree.
    assert_eq!(stored(&[id, "SHFL.IDX PT, R0, R0, 0x7, 0x1f"]), [7]);
    assert_eq!(stored(&[id, "SHFL.UP PT, R0, R0, 0x1c, RZ"]), lanes[..28]);
    assert_eq!(stored(&[id, "SHFL.DOWN P0, R1, R0, 0x1e, 0x1f", "SEL R0, R1, RZ, P0"]), [0, 30, 31]);
    assert_eq!(stored(&[id, "SHFL.BFLY PT, R0, R0, 0x1f, 0x1f"]), lanes);
    let vote = ["ISETP.LT.AND P0, PT, R0, 0x4, PT", "VOTE.ANY R0, PT, P0", "POPC R0, R0"];
    assert_eq!(stored(&[&[id], &vote[..]].concat()), [4]);
    // Predicates packed and unpacked; a spilled register.
    let packed =
        ["ISETP.LT.AND P2, PT, R0, 0x4, PT", "P2R R1, PR, RZ, 0x4", "ISETP.NE.AND P2, PT, RZ, RZ, PT"];
    let unpacked = ["R2P PR, R1, 0x4", "SEL R0, R0, RZ, P2"];
    assert_eq!(stored(&[&[id], &packed[..], &unpacked[..]].concat()), [0, 1, 2, 3]);
    // Predicate 2 from bit 10.
    let of_byte = ["SHF.L.U32 R1, R0, 0x8, RZ", "R2P PR, R1.B1, 0x4", "SEL R0, R0, RZ, P2"];
    let with_bit_2: Vec<_> = (0..32).filter(|lane| lane & 4 != 0).collect();
    assert_eq!(stored(&[&[id], &of_byte[..]].concat()), [&[0], &with_bit_2[..]].concat());
    assert_eq!(stored(&[id, "STL [R1+0x8], R0", "MOV R0, RZ", "LDL R0, [R1+0x8]"]), lanes);
    // A constant made of two halves: 4 in the lower bits.
    assert_eq!(stored(&["HFMA2.MMA R0, -RZ, RZ, 0, 2.384185791015625e-07"]), [4]);
    // Values of the warp.
    let packed = ["UISETP.LT.AND UP2, UPT, URZ, 0x4, UPT", "UP2UR UR6, UPR, URZ, 0x6", "MOV R0, UR6"];
    assert_eq!(stored(&packed), [4]);
    assert_eq!(stored(&["UMOV UR6, 0x3", "ULEA UR6, UR6, UR6, 0x2", "MOV R0, UR6"]), [15]);
    assert_eq!(stored(&["ULDC UR6, c[0x0][0x218]", "USEL UR6, UR6, URZ, !UPT", "MOV R0, UR6"]), [0]);
}

/// Lanes that leave a region are not waited for; lanes that never diverged do not wait at all.
#[test]
fn regions_end_where_all_have_come_that_are_in_them() {
    let lines = [
        "S2R R0, SR_TID.X",
        "ISETP.LT.AND P0, PT, R0, 0x4, PT",
        "ISETP.LT.AND P1, PT, R0, 0x8, PT",
        "BSSY B1, `(.L_x_2)",
        "BSSY B0, `(.L_x_1)",
        "@P0 BREAK B0",
        "@P0 BRA `(.L_x_3)",
        "@P1 BRA `(.L_x_0)",
        "NOP",
        ".L_x_0:",
        "BSYNC B0",
        ".L_x_1:",
        "NOP",
        ".L_x_3:",
        "BSYNC B1",
        ".L_x_2:",
        "EXIT",
    ];
    // Eight for all, the NOP of 24 lanes, two arrivals at B0, one NOP and two arrivals at B1, the end.
    assert_eq!(totals(&lines).unwrap().0.instructions(), f64::from(8 + 1 + 2 + 1 + 2 + 1));
    let sync = [
        "S2R R0, SR_TID.X",
        "ISETP.LT.AND P0, PT, R0, 0x4, PT",
        "@P0 BRA `(.L_x_0)",
        "NOP",
        ".L_x_0:",
        "WARPSYNC.ALL",
        "EXIT",
    ];
    assert_eq!(totals(&sync).unwrap().0.instructions(), f64::from(3 + 1 + 2 + 1));
}

/// A table of places in a constant bank.
#[test]
fn jumps_by_tables() {
    let table = "\t.section\t.nv.constant2.k,\"a\",@progbits\n.nv.constant2.k:\n\
        \t/*0000*/ \t.byte\t0x50, 0x00, 0x00, 0x00, 0x70, 0x00, 0x00, 0x00\n";
    let lines = [
        "S2R R0, SR_TID.X",
        "LOP3.LUT R0, R0, 0x1, RZ, 0xc0, !PT",
        "IMAD.SHL.U32 R0, R0, 0x4, RZ",
        "LDC R4, c[0x2][R0]",
        "BRX R4 -0x50                                           (*\"BRANCH_TARGETS .L_x_0,.L_x_1\"*)",
        ".L_x_0:",
        "NOP",
        "EXIT",
        ".L_x_1:",
        "EXIT",
    ];
    let text = listing(&lines) + table;
    let listing = Listing::parse(&text).unwrap();
    let launch = Launch::new(&listing, [32, 1, 1], [1, 1, 1], Vec::new(), false).unwrap();
    let code = listing.kernel("k").unwrap();
    let counts = run::block(code, &launch, [0, 0, 0], &|| false).unwrap();
    assert_eq!(counts.totals(code).instructions(), 5.0 + 2.0 + 1.0);
}

/// Global atomics touch sectors, which are read and written; shared ones need the banks; what they return is data.
#[test]
fn atomics_are_counted() {
    let lines = [
        "LDC.64 R2, c[0x0][0x210]",
        "S2R R0, SR_LANEID",
        "IMAD.WIDE R2, R0, 0x4, R2",
        "REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R0",
        "ATOMG.E.ADD.STRONG.GPU PT, R4, desc[UR4][R2.64+0x80], R0",
        "IMAD.SHL.U32 R6, R0, 0x8, RZ",
        "ATOMS.ADD RZ, [R6+0x100], R0",
        "EXIT",
    ];
    let (totals, written) = totals(&lines).unwrap();
    assert_eq!((totals.of(Kind::Atomic), totals.sectors), (3.0, 8.0));
    assert_eq!((totals.read_bytes, totals.written_bytes, totals.shared_bytes), (256.0, 256.0, 128.0));
    assert_eq!((totals.wavefronts, written.len()), (2.0, 8));
    // What is added nobody knows: an address must not depend on it.
    let depends =
        [&lines[..5], &["IMAD.WIDE R2, R4, 0x4, R2", "STG.E desc[UR4][R2.64], RZ", "EXIT"]].concat();
    assert!(error(&depends).contains("line"), "{}", error(&depends));
    // Loops that compare and exchange end by values.
    assert!(error(&["ATOMS.CAST.SPIN R0, [R2], R4, R5", "EXIT"]).contains("ATOMS.CAST.SPIN"));
}
