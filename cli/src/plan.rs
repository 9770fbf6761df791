//! Plans as text: the proof, tile sizes, and the stages that `--dump` prints.

use crate::arguments::Stage;
use crate::progress::Session;
use crate::report;
use hhc_codegen::int_expr::IntExpr;
use hhc_codegen::pipeline::Planned;
use hhc_codegen::plan::{Instance, Kernel, Loop, Range, Role, RowOrder};
use hhc_codegen::storage::{Axis, Link, Memory, Moment, Part, Place, Region, Slot, Storage, Sync, Transfer};
use hhc_codegen::strategy;
use hhc_codegen::{KernelPlan, TileSizes, prove};
use polyhedral::analysis::Analysis;
use polyhedral::legality::Proof;
use std::fmt::Write;
use tilewright::text;

/// Lets a session show the stage of a plan that the proof refuses.
pub fn dump_refused(stage: Option<Stage>, session: &Session) {
    if let Some(stage) = stage {
        session.dump_refused(move |plan, analysis| stage_text(stage, plan, analysis));
    }
}

/// What the proof says, in words.
pub fn proof_text(proof: &Proof) -> String {
    format!(
        "legal for all grid sizes and step counts: isl proved that every statement instance runs exactly once\n\
         and that {} ({} shown empty in {})",
        match (proof.reads, proof.dependences) {
            (Some(reads), _) => format!("all {reads} reads find the value that the program gives them"),
            (None, 1) => "its dependence is respected".to_owned(),
            (None, many) => format!("all {many} dependences are respected"),
        },
        text::count(proof.relations as u64, "relation", "relations"),
        report::seconds(proof.seconds),
    )
}

/// Tile sizes with what each of them is, as a second line: people should not have to know that a last size of 0 means
/// whole rows.
pub fn tile_text(strategy: &str, tile: &TileSizes) -> String {
    let own = strategy::by_name(strategy).ok();
    let last = tile.iter().last().map(|(name, _)| name);
    let meaning = |(name, value): (&str, i64)| match (own, value) {
        (_, 0) if Some(name) == last => format!("{name}=0: whole rows"),
        (_, 0) => format!("{name}=0: the whole dimension"),
        (Some(own), value) => own.size_text(name, value),
        (None, value) => format!("{name}: {value}"),
    };
    let meanings: Vec<String> = tile.iter().map(meaning).collect();
    if meanings.is_empty() { tile.to_string() } else { format!("{tile}\n({})", meanings.join("; ")) }
}

/// A stage as text.
pub fn dump(stage: Stage, planned: &Planned) -> String {
    stage_text(stage, &planned.plan, &planned.analysis)
}

fn stage_text(stage: Stage, plan: &KernelPlan, analysis: &Analysis) -> String {
    let program = &plan.program;
    match stage {
        Stage::Program => program.to_source(),
        Stage::Dependences => {
            let lines = analysis.dependences.iter().map(|dependence| {
                format!("{dependence} through field {}\n", program.field(dependence.field).name)
            });
            lines.collect()
        }
        Stage::Plan => plan_text(plan),
        Stage::Schedule => schedule_text(plan),
    }
}

fn loop_text(source: &Loop) -> String {
    format!("{} in {} ..= {}", source.variable, source.low, source.high)
}

fn plan_text(plan: &KernelPlan) -> String {
    let mut text = format!("strategy {}, tile {}\n", plan.strategy, plan.tile);
    let _ = writeln!(text, "for {}", loop_text(&plan.outer));
    for launch in &plan.launches {
        let condition = launch.when.as_ref().map(|when| format!(" if {} >= 0", when));
        let _ =
            writeln!(text, "  launch {}{}", plan.kernels[launch.kernel].name, condition.unwrap_or_default());
    }
    for kernel in &plan.kernels {
        let _ = writeln!(text, "\nkernel {}  // {}", kernel.name, kernel.comment);
        let mut depth = 1;
        let mut line = |depth: usize, line: String| {
            let _ = writeln!(text, "{}{line}", "  ".repeat(depth));
        };
        for block in &kernel.blocks {
            line(depth, format!("forall block {}", loop_text(block)));
            depth += 1;
        }
        for binding in &kernel.bindings {
            line(depth, format!("{} = {}  // {}", binding.name, binding.value, binding.comment));
        }
        for sub_tile in &kernel.sub_tiles {
            line(depth, format!("for sub-tile {}", loop_text(sub_tile)));
            depth += 1;
        }
        for storage in &kernel.storages {
            line(depth, storage_text(plan, storage));
        }
        if !kernel.full_when.is_empty() || kernel.memory != Memory::Storages {
            let full = kernel.full_when.iter().map(|condition| format!("{} >= 0", condition));
            line(depth, format!("full where {}", full.collect::<Vec<_>>().join(" and ")));
        }
        for (_, transfer) in kernel.transfers_at(Moment::Start) {
            line(depth, transfer_text(plan, kernel, transfer));
        }
        for link in &kernel.links {
            let Link { from, to, distance } = link;
            line(depth, format!("warp {to} waits for warp {from} to be at most {distance} behind"));
        }
        line(depth, format!("for {}", loop_text(&kernel.rows)));
        for part in kernel.parts_of_a_group() {
            match part {
                Part::Row(row) => {
                    for text in row_text(plan, kernel, &kernel.instances[row]) {
                        line(depth + 1, text);
                    }
                }
                Part::Transfer(index) => {
                    line(depth + 1, transfer_text(plan, kernel, &kernel.transfers[index]));
                }
            }
        }
        for (_, transfer) in kernel.transfers_at(Moment::End) {
            line(depth, transfer_text(plan, kernel, transfer));
        }
    }
    text
}

fn ranges_text(ranges: &[Range]) -> String {
    let range = |range: &Range| format!("{} ..= {}", range.low, range.high);
    ranges.iter().map(range).collect::<Vec<_>>().join(", ")
}

fn storage_text(plan: &KernelPlan, storage: &Storage) -> String {
    let axes = storage.axes.iter().map(|axis| match axis {
        Axis::Window { first, extent } => format!("{extent} from {}", first),
        Axis::Ring { first, extent } if first.constant() == Some(0) => format!("ring of {extent}"),
        Axis::Ring { first, extent } => format!("ring of {extent} from {first}"),
        Axis::Lanes { first, extent, points: 1 } => format!("{extent} lanes from {first}"),
        Axis::Lanes { first, extent, points } => format!("{extent} in lanes of {points} from {first}"),
    });
    let planes = text::count(storage.planes.unsigned_abs(), "level", "levels");
    let field = &plan.program.field(storage.field).name;
    let axes = axes.collect::<Vec<_>>().join(", ");
    let copies = match &storage.copies[..] {
        [] => String::new(),
        copies => {
            let copies: Vec<String> = copies.iter().map(i64::to_string).collect();
            format!("{} copies with ", copies.join(" x "))
        }
    };
    format!("storage {}: {copies}{planes} of {field} at [{axes}]  // {}", storage.name, storage.comment)
}

fn place_text(kernel: &Kernel, place: &Place) -> String {
    match place {
        Place::Arrays(Slot::OfLevel) => "the arrays".to_owned(),
        Place::Arrays(Slot::At(slot)) => format!("slot {} of the arrays", slot),
        Place::Storage(index) => kernel.storages[*index].name.clone(),
        Place::Copy(index, copy) => {
            let copy: Vec<String> = copy.iter().map(|number| format!("[{number}]")).collect();
            format!("{}{}", kernel.storages[*index].name, copy.concat())
        }
    }
}

fn sync_text(sync: Sync) -> &'static str {
    match sync {
        Sync::Barrier => "",
        Sync::Nothing => ", without waiting",
        Sync::Warp => ", its warp waits",
    }
}

fn transfer_text(plan: &KernelPlan, kernel: &Kernel, transfer: &Transfer) -> String {
    let region = match transfer.region {
        Region::Grid => String::new(),
        Region::Boundary => "the boundary of ".to_owned(),
        Region::Domain(statement) => format!("the domain of {} of ", plan.program.statement_name(statement)),
    };
    let junk = if transfer.junk.is_some() { ", junk elsewhere" } else { "" };
    format!(
        "{}move {region}{} of level {} at [{}] from {} to {}{junk}{}  // {}",
        when_text(&transfer.when),
        plan.program.field(transfer.field).name,
        transfer.level,
        ranges_text(&transfer.ranges),
        place_text(kernel, &transfer.from.place),
        place_text(kernel, &transfer.to),
        sync_text(transfer.sync),
        transfer.comment,
    )
}

fn when_text(when: &[IntExpr]) -> String {
    when.iter().map(|condition| format!("where {condition} >= 0: ")).collect()
}

/// A row, and, where the kernel says so, what is its own and where its values are.
fn row_text(plan: &KernelPlan, kernel: &Kernel, row: &Instance) -> Vec<String> {
    let statement = &plan.program.statements[row.statement];
    let target = &plan.program.field(statement.target).name;
    let when = when_text(&row.when);
    let mut lines =
        vec![format!("{when}row: {target} of step {} at [{}]", row.step, ranges_text(&row.ranges))];
    if kernel.memory != Memory::Storages {
        return lines;
    }
    if let Role::Copies { owned } = &row.role {
        lines.push(format!("  its own at [{}], copies of other blocks' elsewhere", ranges_text(owned)));
    }
    let places = |places: &mut dyn Iterator<Item = &Place>| {
        let mut texts: Vec<String> = Vec::new();
        for text in places.map(|place| place_text(kernel, place)) {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        if texts.is_empty() { "the arrays".to_owned() } else { texts.join(" and ") }
    };
    let order = match &row.order {
        RowOrder::Parallel { .. } => String::new(),
        RowOrder::Sequential => ", one point after the other".to_owned(),
        RowOrder::Skewed { factors } => {
            let terms = factors.iter().enumerate().map(|(d, factor)| format!("{factor}*s{d}"));
            format!(", in wavefronts of {}", terms.collect::<Vec<_>>().join(" + "))
        }
    };
    let order = if row.junk.is_some() { format!("{order}, junk outside of the domain") } else { order };
    lines.push(format!(
        "  from {} to {}{order}{}",
        places(&mut row.reads.iter().map(|read| &read.place)),
        places(&mut row.writes.iter()),
        sync_text(row.sync),
    ));
    lines
}

fn schedule_text(plan: &KernelPlan) -> String {
    let schedule = prove::schedule(plan);
    let mut text = String::from("dimensions, outermost first:\n");
    for dimension in &schedule.dimensions {
        let _ = writeln!(text, "  {} ({:?})", dimension.name, dimension.execution);
    }
    for piece in &schedule.pieces {
        let _ = writeln!(
            text,
            "\nstatement {} at [{}]{} where",
            piece.statement,
            piece.variables.join(", "),
            if piece.helpers.is_empty() {
                String::new()
            } else {
                format!(", some {}", piece.helpers.join(", "))
            },
        );
        for (dimension, value) in &piece.fixed {
            let _ = writeln!(text, "  {} = {value}", piece.variables[*dimension]);
        }
        for constraint in &piece.constraints {
            let _ = writeln!(text, "  {constraint}");
        }
    }
    text
}
