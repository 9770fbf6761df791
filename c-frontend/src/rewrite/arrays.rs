//! Where the program's arrays lie: the tiled loops work on them in place if they lie in one piece, neighbours along the
//! innermost dimension are adjacent, and their rows have the distance of the others'; which the program finds out when it
//! runs. What lies in another way is copied.

use super::boxes::{Boxes, Points, place};
use super::extents::{all_boxes, begins, is_fresh};
use super::lines::{Lines, constant, point};
use super::output::Target;
use crate::CProgram;
use crate::integer::IntType;
use crate::polynomial::Polynomial;
use crate::recognise::{Axis, Form, GridField, What};
use crate::text::{MemberOf, shown};
use polyhedral::program::FieldRole;

/// How the tiled loops use an array of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayUse {
    /// Its name in the program.
    pub name: String,
    /// Why it is copied; `None` if it is used in place, where its rows have the distance of the others'.
    pub copied: Option<&'static str>,
}

/// How the arrays of a program are used.
pub fn array_uses(program: &CProgram, target: Target) -> Vec<ArrayUse> {
    let mut uses: Vec<ArrayUse> = Vec::new();
    let fields = || program.stencil.fields.iter().enumerate().filter(|(number, _)| !program.is_seen(*number));
    let is_mirror = |array: &String| {
        fields().any(|(_, other)| {
            let What::State { form, .. } = &other.what else { return false };
            other.mirrors.is_some() && form.array == *array
        })
    };
    // What is read of a mirror where no step writes it says no more.
    let read = |field: &GridField| matches!(&field.what, What::Coefficient(form) if is_mirror(&form.array));
    for (_, field) in fields().filter(|(_, field)| !read(field)) {
        let (name, copied) = match &field.what {
            What::State { form, .. } | What::Coefficient(form) => {
                let copied = match target {
                    _ if field.mirrors.is_some() => Some(MIRROR),
                    Target::Cuda => Some("the GPU has memory of its own"),
                    Target::OpenMp if is_converted(program, form) => {
                        Some("its integers are computed as floating-point numbers")
                    }
                    Target::OpenMp if !is_adjacent(program, form) => {
                        Some("neighbours of a row are not adjacent")
                    }
                    Target::OpenMp if !in_one_piece(program, form) => Some(ROWS),
                    Target::OpenMp => None,
                };
                (form.array.as_str(), copied)
            }
            What::Place(_) => (PLACE, Some("they are computed once")),
        };
        if !uses.iter().any(|other| other.name == *name && other.copied == copied) {
            uses.push(ArrayUse { name: name.to_owned(), copied });
        }
    }
    // Strides are those of the first such array that changes, of which something is wanted that was there before.
    let mut in_order: Vec<_> = fields().collect();
    in_order.sort_by_key(|(number, _)| is_fresh(program, *number));
    let first = in_order.iter().find_map(|(_, field)| match &field.what {
        What::State { form, .. }
            if in_one_piece(program, form) && is_adjacent(program, form) && !is_converted(program, form) =>
        {
            Some(form)
        }
        _ => None,
    });
    for (_, field) in fields() {
        let (What::State { form, .. } | What::Coefficient(form)) = &field.what else { continue };
        let differs = first.is_none_or(|first| certainly_differ(program, form, first));
        let own = uses.iter_mut().filter(|one| one.name == form.array && one.copied.is_none());
        own.filter(|_| differs).for_each(|one| one.copied = Some(OTHER_ROWS));
    }
    uses.iter_mut().for_each(|one| one.name = shown(&one.name));
    uses
}

/// Rows that were allocated one after the other have one distance, which the program finds out when it runs.
const ROWS: &str = "unless its rows have one distance";
/// Each step copies it to another one.
const MIRROR: &str = "it gets its values behind the last step";
/// Why an array is copied of which several levels are wanted at once.
pub(crate) const LEVELS: &str = "it stands for several time levels";
/// What values are called that follow from the place alone.
pub(crate) const PLACE: &str = "values of the place";

const OTHER_ROWS: &str = "its rows have another distance than those of the first array in place";

/// Whether elements are integers that are copied to numbers of another size.
fn is_converted(program: &CProgram, form: &Form) -> bool {
    let bits = |ctype| IntType::of(ctype).map_or(0, |own| own.bits);
    let own = program.nest.integers.get(&form.array);
    own.is_some_and(|ctype| bits(ctype) < 32 || !numbers_replace_integers(program))
}

/// Whether numbers take the place of small integers in the program's arrays: all that is touched of these is turned, once.
/// Other threads of the program may look at what the loops do not write.
pub(super) fn numbers_replace_integers(program: &CProgram) -> bool {
    let threads = ["pthread_create", "thrd_create"];
    program.nest.small.is_some()
        && !threads.iter().any(|name| program.preprocessed.text.contains(name))
        && all_boxes(program).iter().all(|(touched, computed)| touched.apart && computed.apart)
}

/// Whether the distances of neighbours are known and not the same.
fn certainly_differ(program: &CProgram, a: &Form, b: &Form) -> bool {
    let pairs = strides(program, a).into_iter().zip(strides(program, b));
    pairs.filter_map(|(a, b)| a?.distance(&b?)).any(|difference| difference != 0)
}

/// The distance of neighbours along each dimension, in elements, where extents are declared.
fn strides(program: &CProgram, form: &Form) -> Vec<Option<Polynomial>> {
    let extents = program.nest.extents.get(&form.array).map_or(&[][..], Vec::as_slice);
    let mut strides = vec![None; program.stencil.dimension];
    let mut within = Some(Polynomial::number(1));
    // From the innermost index on, as pointers that take turns have no extent.
    for (from_last, position) in form.positions.iter().rev().enumerate() {
        for (axis, stride) in &position.axes {
            if let Axis::Space(d) = axis {
                strides[*d] = within.as_ref().and_then(|within| within.times(stride));
            }
        }
        let extent = extents.len().checked_sub(from_last + 1).and_then(|at| extents[at].clone());
        within = within.zip(extent).and_then(|(within, extent)| within.times(&extent));
    }
    strides
}

/// What would be copied or computed by one thread before and behind every step, were steps run one at a time, and why: that
/// costs as much as a step, or more.
pub(crate) fn moved_in_every_step(program: &CProgram) -> Option<(String, &'static str)> {
    let uses = array_uses(program, Target::OpenMp).into_iter();
    let copied = uses.filter(|one| one.copied != Some(ROWS)).find_map(|one| Some((one.name, one.copied?)));
    // One array for several levels: the others have buffers of their own.
    let short = || {
        let fields = program.program.fields.iter().enumerate();
        fields
            .filter(|(number, field)| {
                let FieldRole::State { slots, .. } = field.role else { return false };
                slots > 1 && arrays_of(program, *number) == 1
            })
            .find_map(|(number, _)| match &program.stencil.fields[number].what {
                What::State { form, .. } => Some((form.array.clone(), LEVELS)),
                What::Coefficient(_) | What::Place(_) => None,
            })
    };
    let made = || {
        let own = program.own_arrays();
        own.first().map(|one| (shown(&one.name), "it is declared within the loops"))
    };
    copied.or_else(short).or_else(made)
}

/// How many arrays of the program a field has: one for each of its buffers, none for a value of the place or what tests keep.
pub(super) fn arrays_of(program: &CProgram, field: usize) -> usize {
    match &program.stencil.fields[field].what {
        _ if program.is_seen(field) => 0,
        What::State { buffers, .. } => usize::try_from(*buffers).unwrap_or(1),
        What::Coefficient(_) => 1,
        What::Place(_) => 0,
    }
}

/// Whether neighbours along each dimension have one distance everywhere in a buffer.
fn in_one_piece(program: &CProgram, form: &Form) -> bool {
    let nest = &program.nest;
    let chosen_first =
        matches!(form.positions.first().map(|position| position.axes.as_slice()), Some([(Axis::Buffer, _)]));
    nest.blocks.contains(&form.array) || chosen_first && nest.blocks_of_buffers.contains(&form.array)
}

/// Whether neighbours along the innermost dimension are adjacent.
fn is_adjacent(program: &CProgram, form: &Form) -> bool {
    let last = Axis::Space(program.stencil.dimension - 1);
    if MemberOf::of(&form.array).is_some() {
        return false;
    }
    let axes = form.positions.last().map_or(&[][..], |position| position.axes.as_slice());
    axes.iter().any(|(axis, stride)| *axis == last && stride.constant() == Some(1))
}

/// Says where arrays lie, and which of their points are touched and computed.
pub(super) fn places(program: &CProgram, boxes: &[(Boxes, Boxes)], lines: &mut Lines) {
    let mut first_view = 0;
    for (number, (touched, computed)) in boxes.iter().enumerate() {
        let views = arrays_of(program, number);
        let field = &program.stencil.fields[number];
        let begins = field.mirrors.as_ref().and_then(|mirrors| begins(program, mirrors));
        let (form, parts): (_, Vec<(&Boxes, u8)>) = match &field.what {
            _ if program.is_seen(number) => continue,
            What::State { form, .. } if field.mirrors.is_some() => {
                (form, begins.iter().map(|boxes| (boxes, 0)).chain([(computed, 1)]).collect())
            }
            What::State { form, .. } => (form, vec![(touched, 0), (computed, 1)]),
            What::Coefficient(form) => (form, vec![(touched, 0)]),
            What::Place(_) => continue,
        };
        let array = Array { program, form, view: first_view, several: views > 1 };
        if views > 1 {
            lines.block(format!("for (int tw_s = 0; tw_s < {views}; ++tw_s)"), |lines| {
                lines.line(format!("const ptrdiff_t tw_b = {};", buffer_of_slot(program, number)));
                array.place(&parts, lines);
            });
        } else {
            array.place(&parts, lines);
        }
        first_view += views;
    }
}

/// An array of the program.
struct Array<'a> {
    program: &'a CProgram,
    form: &'a Form,
    /// The number of the first one.
    view: usize,
    /// Whether it is one of several, by its slot.
    several: bool,
}

impl Array<'_> {
    fn name(&self) -> &str {
        &self.program.program.name
    }

    fn dimension(&self) -> usize {
        self.program.stencil.dimension
    }

    fn view(&self) -> String {
        if self.several { format!("{} + tw_s", self.view) } else { self.view.to_string() }
    }

    /// An element.
    fn element(&self, at: &dyn Fn(usize) -> String) -> String {
        self.form.text(if self.several { "tw_b" } else { "0" }, at, &constant)
    }

    fn place(&self, parts: &[(&Boxes, u8)], lines: &mut Lines) {
        let in_one_piece = in_one_piece(self.program, self.form);
        for (boxes, back) in parts {
            // The largest box is the first one.
            for one in &boxes.list {
                if in_one_piece { self.part(one, *back, lines) } else { self.rows(one, *back, lines) }
            }
        }
    }

    /// A box of an array in one piece.
    fn part(&self, one: &Points, back: u8, lines: &mut Lines) {
        let low = |d: usize| place(one[d].low, d);
        let next = |moved: usize| {
            let element = self.element(&|d| if d == moved { format!("{} + 1", low(d)) } else { low(d) });
            let high = place(one[moved].high, moved);
            format!("{high} - ({}) > 1 ? (const void *)&{element} : 0", low(moved))
        };
        let mut points = vec![format!("&{}", self.element(&low))];
        points.extend((0..self.dimension()).map(next));
        lines.line(format!(
            "{}_box(&tw_data, {}, {back}, (const ptrdiff_t[]){{ {} }}, (const ptrdiff_t[]){{ {} }},",
            self.name(),
            self.view(),
            self.from(&low),
            self.from(&|d| place(one[d].high, d))
        ));
        lines.line(format!("    (const void *const[]){{ {} }});", points.join(", ")));
    }

    /// A box of an array whose rows lie anywhere.
    fn rows(&self, one: &Points, back: u8, lines: &mut Lines) {
        let last = self.dimension() - 1;
        let whole = self
            .form
            .positions
            .last()
            .is_some_and(|position| position.axes.iter().any(|(axis, _)| *axis == Axis::Space(last)));
        let sides: Vec<(String, String)> =
            one.iter().enumerate().map(|(d, side)| (place(side.low, d), place(side.high, d))).collect();
        let outer: Vec<(usize, &(String, String))> =
            sides.iter().enumerate().filter(|(d, _)| *d < last || !whole).collect();
        let (low, high) = &sides[last];
        let at = |d: usize| if d == last && whole { low.clone() } else { point(d) };
        let (count, next) = match whole {
            true => {
                let next = self.element(&|d| if d == last { format!("{low} + 1") } else { point(d) });
                let count = format!("{high} - ({low})");
                (count.clone(), format!("{count} > 1 ? (const void *)&{next} : 0"))
            }
            false => ("1".to_owned(), "0".to_owned()),
        };
        let body = format!(
            "{}_row(&tw_data, {}, {back}, (const ptrdiff_t[]){{ {} }}, {count}, &{}, {next});",
            self.name(),
            self.view(),
            self.from(&at),
            self.element(&at)
        );
        lines.loops(&outer, &body);
    }

    /// A point, from the first one of the grid.
    fn from(&self, at: &dyn Fn(usize) -> String) -> String {
        let from = (0..self.dimension()).map(|d| format!("{} - tw_low{d}", at(d)));
        from.collect::<Vec<_>>().join(", ")
    }
}

/// Slot s holds the levels l with l + levels - 1 = s (mod k); step tw_first + l - 1 writes level l into buffer
/// (tw_first + l - 1 + shift) mod k.
fn buffer_of_slot(program: &CProgram, number: usize) -> String {
    let levels = match program.program.fields[number].role {
        FieldRole::State { levels, .. } => levels,
        FieldRole::Coefficient => 1,
    };
    let What::State { form, buffers, shift } = &program.stencil.fields[number].what else {
        return "0".to_owned();
    };
    let constant = (shift - levels as i64).rem_euclid(*buffers);
    // Names that take turns are counted from the first step.
    if (!form.turns.is_empty() && !form.by_time) || form.counter.is_some() {
        return format!("(tw_s + {constant}) % {buffers}");
    }
    format!("((tw_first + tw_s + {constant}) % {buffers} + {buffers}) % {buffers}")
}
