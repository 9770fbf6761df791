//! How the cells that enter a window are loaded.
//!
//! Cells lie on lines along the innermost dimension; a thread has one column and a part of the lines. It first issues
//! the loads of a batch of lines and then stores their values in shared memory, so that the batch waits for memory
//! only once.

use super::printer::Printer;
use super::text::signed;
use crate::geometry::Threads;
use crate::window::Plane;
use polyhedral::domain::Bound;
use polyhedral::program::FieldRole;
use polyhedral::sweep::{CellBox, Live};
use serde::Serialize;

/// Registers that hold a batch in a full tile.
const BATCH: i64 = 16;

/// Lines in a batch of a tile that may be partial: their conditions need registers, too.
const CLIPPED_BATCH: i64 = 2;

/// One batch, or a loop over batches.
#[derive(Serialize)]
pub(super) struct LoadText {
    comment: String,
    lines: Vec<String>,
}

/// The cells of one box, as a thread sees them.
struct Part<'a> {
    plane: &'a Plane,
    cells: &'a CellBox,
    /// Lines of the box, and of a thread.
    lines: i64,
    mine: i64,
}

/// The number of the thread among those that share the lines: all threads but those along the columns.
pub(super) fn lane(threads: &Threads, sliding: bool) -> String {
    let dimensions = line_dimensions(threads, sliding);
    let mut lane = "thread0".to_string();
    for d in 1..dimensions {
        lane = format!("{lane} * {} + thread{d}", threads.per_dimension[d]);
        if d + 1 < dimensions {
            lane = format!("({lane})");
        }
    }
    lane
}

/// The dimensions that tell lines apart.
fn line_dimensions(threads: &Threads, sliding: bool) -> usize {
    threads.per_dimension.len() - usize::from(sliding)
}

impl Printer<'_> {
    fn lanes(&self) -> i64 {
        let threads = &self.staging.threads;
        threads.per_dimension[..line_dimensions(threads, self.staging.window.slide.is_some())]
            .iter()
            .product()
    }

    fn part<'a>(&self, plane: &'a Plane, cells: &'a CellBox) -> Part<'a> {
        let lines = cells.iter().map(|(low, high)| high - low + 1).product();
        Part { plane, cells, lines, mine: (lines + self.lanes() - 1) / self.lanes() }
    }

    fn registers(&self, plane: &Plane) -> i64 {
        self.program.fields[plane.field].element.bytes() as i64 / 4
    }

    /// The loads of a full tile: exactly the cells that are live in, in batches over all planes.
    pub(super) fn exact_loads(&self) -> Vec<LoadText> {
        let window = self.staging.window;
        let parts =
            window.planes.iter().flat_map(|plane| plane.live_in.iter().map(move |cells| (plane, cells)));
        let mut batches: Vec<Vec<Part<'_>>> = Vec::new();
        let mut used = BATCH;
        for (plane, cells) in parts {
            let part = self.part(plane, cells);
            let registers = part.mine * self.registers(plane);
            if used + registers > BATCH {
                batches.push(Vec::new());
                used = 0;
            }
            used += registers;
            if let Some(batch) = batches.last_mut() {
                batch.push(part);
            }
        }
        batches.iter().map(|batch| self.exact_batch(batch)).collect()
    }

    fn exact_batch(&self, batch: &[Part<'_>]) -> LoadText {
        let (window, threads) = (self.staging.window, &self.staging.threads);
        let last = self.dimension() - 1;
        let mut text = Lines::default();
        match window.slide {
            Some(slide) if slide == threads.per_dimension[last] => {
                text.open("{");
                text.push(&format!("const int w{last} = {} + thread{last};", window.kept));
            }
            Some(_) => text.open(&format!(
                "for (int w{last} = {} + thread{last}; w{last} < {}; w{last} += {}) {{",
                window.kept, window.extent[last], threads.per_dimension[last]
            )),
            None => text.open("{"),
        }
        for (number, part) in batch.iter().enumerate() {
            let element = self.program.fields[part.plane.field].element.c_name();
            text.push(&format!("{element} tw_next{number}[{}];", part.mine));
        }
        for (number, part) in batch.iter().enumerate() {
            self.exact_loop(&mut text, part, &format!("tw_next{number}[k] = {};", self.source(part.plane)));
        }
        for (number, part) in batch.iter().enumerate() {
            self.exact_loop(&mut text, part, &format!("{} = tw_next{number}[k];", self.cell(part.plane)));
        }
        text.close(0);
        let names: Vec<String> = batch
            .iter()
            .map(|part| format!("{} line(s) of {}", part.lines, self.plane_comment(part.plane)))
            .collect();
        LoadText { comment: names.join("; "), lines: text.text }
    }

    /// `statement` for each of a thread's lines.
    fn exact_loop(&self, text: &mut Lines, part: &Part<'_>, statement: &str) {
        let depth = text.depth;
        text.pragma("unroll");
        text.open(&format!("for (int k = 0; k < {}; ++k) {{", part.mine));
        text.push(&format!("const int line = lane + k * {};", self.lanes()));
        self.line_coordinates(text, part.cells);
        if part.lines % self.lanes() == 0 {
            text.push(statement);
        } else {
            text.push(&format!("if (k < {} || line < {}) {statement}", part.mine - 1, part.lines));
        }
        text.close(depth);
    }

    /// Window coordinates of line number `line` of a box.
    fn line_coordinates(&self, text: &mut Lines, cells: &CellBox) {
        let mut below = 1;
        for (d, (low, high)) in cells.iter().enumerate().rev() {
            let count = high - low + 1;
            let quotient = if below == 1 { "line".to_string() } else { format!("line / {below}") };
            let number = match (d, count) {
                (0, _) => quotient,
                (_, 1) => "0".to_string(),
                _ => format!("{quotient} % {count}"),
            };
            let value = if *low == 0 { number } else { format!("{low} + {number}") };
            text.push(&format!("const int w{d} = {value};"));
            below *= count;
        }
    }

    /// The loads of a tile that may be partial: cells on the grid that are read and wanted.
    pub(super) fn clipped_loads(&self) -> Vec<LoadText> {
        let planes = self.staging.window.planes.iter();
        planes
            .flat_map(|plane| plane.read.iter().map(move |cells| self.clipped_load(&self.part(plane, cells))))
            .collect()
    }

    fn clipped_load(&self, part: &Part<'_>) -> LoadText {
        let (window, threads) = (self.staging.window, &self.staging.threads);
        let plane = part.plane;
        let last = self.dimension() - 1;
        let batch = part.mine.min(CLIPPED_BATCH);
        let element = self.program.fields[plane.field].element.c_name();
        let mut text = Lines::default();
        if window.slide.is_some() {
            text.pragma("unroll 1");
            text.open(&format!(
                "for (int w{last} = entering + thread{last}; w{last} < {}; w{last} += {}) {{",
                window.extent[last], threads.per_dimension[last]
            ));
        }
        text.pragma("unroll 1");
        text.open(&format!("for (int begin = 0; begin < {}; begin += {batch}) {{", part.mine));
        text.push("const int first_line = tw_here(lane);");
        text.push(&format!("{element} tw_next[{batch}];"));
        text.push(&format!("bool here[{batch}];"));
        let depth = text.depth;
        let mut conditions = vec![format!("line < {}", part.lines)];
        conditions.extend((0..=last).map(|d| format!("p{d} >= 0 && p{d} < n{d}")));
        conditions.extend(self.wanted(plane).map(|wanted| format!("({wanted})")));
        for loading in [true, false] {
            text.pragma("unroll");
            text.open(&format!("for (int k = 0; k < {batch}; ++k) {{"));
            text.push(&format!("const int line = first_line + (begin + k) * {};", self.lanes()));
            self.line_coordinates(&mut text, part.cells);
            if loading {
                for d in 0..=last {
                    text.push(&format!("const tw_int p{d} = corner{d} + w{d}{};", signed(window.low[d])));
                }
                text.push(&format!("here[k] = {};", conditions.join(" && ")));
                text.push(&format!("if (here[k]) tw_next[k] = {};", self.source(plane)));
            } else {
                text.push(&format!("if (here[k]) {} = tw_next[k];", self.cell(plane)));
            }
            text.close(depth);
        }
        text.close(0);
        LoadText {
            comment: format!("{} line(s) of {}", part.lines, self.plane_comment(plane)),
            lines: text.text,
        }
    }

    fn plane_comment(&self, plane: &Plane) -> String {
        let field = &self.program.fields[plane.field];
        match field.role {
            FieldRole::Coefficient => field.name.clone(),
            FieldRole::State { .. } => format!("{}, plane {}", field.name, plane.number),
        }
    }

    /// The cell at window coordinates `w0`, `w1`, ..
    fn cell(&self, plane: &Plane) -> String {
        let first = plane.number * self.staging.window.cells();
        let terms = (0..self.dimension()).map(|d| match self.staging.window.stride(d) {
            1 => format!("w{d}"),
            stride => format!("w{d} * {stride}"),
        });
        let first = (first > 0).then(|| first.to_string());
        let position: Vec<String> = first.into_iter().chain(terms).collect();
        format!("{}[{}]", self.array(plane.field), position.join(" + "))
    }

    /// Its place in memory.
    fn source(&self, plane: &Plane) -> String {
        let last = self.dimension() - 1;
        let slot = (self.slots(plane.field) > 1).then(|| self.slot_name(plane));
        let terms = (0..=last).map(|d| if d == last { format!("w{d}") } else { format!("w{d} * stride{d}") });
        let position: Vec<String> = slot.into_iter().chain(["window".to_string()]).chain(terms).collect();
        format!("{}[{}]", self.names.fields[plane.field], position.join(" + "))
    }

    /// Which of the cells that are read have to be loaded into a tile that may be partial; `None`: all.
    ///
    /// Cells of the fixed boundary, because no row writes them, and of the others those that are live in.
    fn wanted(&self, plane: &Plane) -> Option<String> {
        let inside = |cells: &CellBox| {
            let tests =
                cells.iter().enumerate().map(|(d, (low, high))| format!("w{d} >= {low} && w{d} <= {high}"));
            format!("({})", tests.collect::<Vec<_>>().join(" && "))
        };
        let live = |boxes: &[CellBox]| match boxes {
            [] => "false".to_string(),
            boxes if boxes == plane.read => "true".to_string(),
            boxes => boxes.iter().map(inside).collect::<Vec<_>>().join(" || "),
        };
        let condition = |cells: &Live| {
            let (early, usual) = (live(&cells.early), live(&cells.usual));
            if early == usual { usual } else { format!("(first_step < 0 ? {early} : {usual})") }
        };
        let conditions: Vec<String> = plane.clipped.iter().map(condition).collect();
        let first = conditions.first()?;
        let alike = conditions.iter().all(|condition| condition == first);
        if alike && first == "true" {
            return None;
        }
        // Outside every domain, one after the other; each outside is a disjunction of sides.
        let outsides: Vec<String> = plane.clipped.iter().map(|cells| self.outside(cells.writer)).collect();
        let boundary = match &outsides[..] {
            [only] => only.clone(),
            many => many.iter().map(|outside| format!("({outside})")).collect::<Vec<_>>().join(" && "),
        };
        let mut wanted = vec![boundary];
        if alike {
            wanted.push(first.clone());
        } else {
            let own = plane.clipped.iter().zip(&conditions).zip(&outsides);
            wanted.extend(
                own.filter(|((_, condition), _)| *condition != "false")
                    .map(|((_, condition), outside)| format!("(!({outside}) && ({condition}))")),
            );
        }
        wanted.retain(|part| part != "false");
        Some(if wanted.is_empty() { "false".to_string() } else { wanted.join(" || ") })
    }

    /// The condition that the point `p0`, `p1`, .. lies outside the domain of a statement.
    fn outside(&self, statement: usize) -> String {
        let mut sides = Vec::new();
        for (d, interval) in self.program.statements[statement].domain.iter().enumerate() {
            // The points that are asked about lie on the grid.
            if interval.low != Bound::start(0) {
                sides.push(format!("p{d} < {}", interval.low.text(&format!("n{d}"))));
            }
            if interval.high != Bound::end(0) {
                sides.push(format!("p{d} >= {}", interval.high.text(&format!("n{d}"))));
            }
        }
        if sides.is_empty() { "false".to_string() } else { sides.join(" || ") }
    }
}

/// Lines of C, indented.
#[derive(Default)]
struct Lines {
    text: Vec<String>,
    depth: usize,
}

impl Lines {
    fn push(&mut self, line: &str) {
        self.text.push(format!("{}{line}", "    ".repeat(self.depth)));
    }

    fn pragma(&mut self, pragma: &str) {
        self.push(&format!("#pragma {pragma}"));
    }

    /// A line that opens a block.
    fn open(&mut self, line: &str) {
        self.push(line);
        self.depth += 1;
    }

    /// Closes blocks until `depth` are open.
    fn close(&mut self, depth: usize) {
        while self.depth > depth {
            self.depth -= 1;
            self.push("}");
        }
    }
}
