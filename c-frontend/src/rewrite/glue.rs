//! What the templates of the buffers need.

use super::arrays::{arrays_of, numbers_replace_integers};
use super::extents::{is_fresh, is_scratch};
use super::glue_waves::WaveTexts;
use super::output::Target;
use crate::integer::IntType;
use crate::nest::Observed;
use crate::program::CProgram;
use crate::recognise::What;
use crate::text::{shown, type_text};
use polyhedral::program::{ElementType, Field, FieldRole, Series};
use serde::Serialize;
use text_escape::comment;

/// What the templates of the buffers need.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Glue {
    /// Name of the stencil.
    pub name: String,
    /// Name of the header.
    glue: String,
    /// Name of the user's file, for comments.
    pub file: String,
    version: &'static str,
    guard: String,
    /// How the options of the CMake file begin.
    option: String,
    pub cuda: bool,
    /// Whether the program's own files are compiled with OpenMP.
    own_openmp: bool,
    pragmas: bool,
    dimension: usize,
    fields: Vec<Buffer>,
    /// Arrays that get a level of a field behind the steps.
    mirrors: Vec<Mirror>,
    /// Arrays of the program, and stored time levels, of all fields.
    views: usize,
    levels: usize,
    series: Vec<Values>,
    sizes: Vec<usize>,
    strides: Vec<usize>,
    parameters: Vec<String>,
    /// Whether steps are run again where a test says so.
    tested: bool,
    /// Whether steps run one at a time, in tiles or as they were written, whichever are faster.
    paced: bool,
    /// Whether memory is lent and given back.
    lends: bool,
    /// Whether nothing may be copied, as steps run one at a time.
    in_place: bool,
    /// Elements of the smallest type in a cache line.
    line: usize,
    /// Whether some elements are integers, and some of them `char`.
    whole: bool,
    letters: bool,
    /// Whether some of them must be small, and whether they can be in the place of the program's.
    small: bool,
    replaces: bool,
    /// How steps run ahead, where they do.
    waves: Option<WaveTexts>,
}

#[derive(Debug, Clone, Serialize)]
struct Buffer {
    name: String,
    c_type: &'static str,
    /// The type of its elements in the program, where that is one of integers.
    integers: Option<&'static str>,
    /// The magnitude that they have at most, where they are small.
    small: Option<i64>,
    /// Whether these may be negative.
    signed: bool,
    /// Whether they can be in the place of the program's integers.
    replaces: bool,
    slots: usize,
    several: bool,
    state: bool,
    /// Number of its first array among those of all fields, and how many it has.
    first_view: usize,
    views: usize,
    /// Number of its first level.
    first_level: usize,
    /// Slot of the newest level before the first step.
    newest: usize,
    /// Whether one array stands for several levels, so that the others need a buffer in any case.
    may_be_alone: bool,
    /// Whether nothing is wanted of what it holds before, and whether nothing is of what it holds behind.
    fresh: bool,
    scratch: bool,
    /// Whether buffers of it begin with anything: a device gets all that they hold.
    blank: bool,
    /// Whether it holds the numbers of a test.
    seen: bool,
}

#[derive(Debug, Clone, Serialize)]
struct Mirror {
    name: String,
    /// Its number among the arrays of all fields; the field that it gets, as it is so many steps before the last one.
    view: usize,
    of: usize,
    ago: i64,
    /// Whether it holds the level before the first one.
    begins: bool,
}

#[derive(Debug, Clone, Serialize)]
struct Values {
    name: String,
    c_type: &'static str,
    length: String,
}

impl Glue {
    pub fn new(source: &CProgram, target: Target) -> Self {
        let program = &source.program;
        let dimension = program.dimension();
        let (mut first_view, mut first_level) = (0, 0);
        let replaces = target != Target::Cuda && numbers_replace_integers(source);
        let mut buffer = |(number, field): (usize, &Field)| {
            let (state, levels, slots) = match field.role {
                FieldRole::State { levels, slots } => (true, levels, slots),
                FieldRole::Coefficient => (false, 1, 1),
            };
            let views = arrays_of(source, number);
            let integers = integers(source, number, target);
            let wide = integers.is_some_and(|own| own.ends_with("int"));
            let small = source.nest.small.filter(|_| wide).and_then(|bound| i64::try_from(bound).ok());
            let buffer = Buffer {
                name: field.name.clone(),
                c_type: field.element.c_name(),
                integers,
                small,
                signed: integers == Some("int"),
                replaces: small.is_some() && replaces,
                slots,
                several: slots > 1,
                state,
                first_view,
                views,
                first_level,
                newest: levels - 1,
                may_be_alone: views == 1 && slots > 1,
                fresh: is_fresh(source, number),
                blank: target != Target::Cuda,
                scratch: is_scratch(source, number),
                seen: source.is_seen(number),
            };
            first_view += views;
            first_level += slots;
            buffer
        };
        let fields: Vec<Buffer> = program.fields.iter().enumerate().map(&mut buffer).collect();
        let mut mirrors = Vec::new();
        for (number, field) in source.stencil.fields.iter().enumerate() {
            let (What::State { form, .. }, Some(own)) = (&field.what, &field.mirrors) else { continue };
            if !is_scratch(source, number) {
                let name = comment(&shown(&form.array));
                let begins = !own.begins.is_empty();
                mirrors.push(Mirror { name, view: first_view, of: own.field, ago: own.ago, begins });
            }
            first_view += arrays_of(source, number);
        }
        let (whole, letters) = (
            fields.iter().any(|field| field.integers.is_some()),
            fields.iter().any(|field| field.integers == Some("char")),
        );
        let small = fields.iter().any(|field| field.small.is_some());
        let replaces = fields.iter().any(|field| field.replaces);
        let values = |series: &Series| Values {
            name: series.name.clone(),
            c_type: series.element.c_name(),
            length: "tw_steps".to_owned(),
        };
        let tested = source.nest.observed.as_ref().is_some_and(|observed| !observed.tests.is_empty());
        let in_place =
            source.nest.observed.as_ref().is_some_and(|observed| observed.alone && !observed.shown);
        // The next call, or the next block of steps, wants such levels, too.
        let alone = fields.iter().any(|field| field.may_be_alone);
        let least = program.fields.iter().map(|field| field.element.bytes()).min();
        Glue {
            name: program.name.clone(),
            glue: format!("{}_glue.h", program.name),
            file: source.file.file_name().map(|name| comment(&name.to_string_lossy())).unwrap_or_default(),
            version: env!("CARGO_PKG_VERSION"),
            guard: program.name.clone(),
            option: program.name.to_uppercase(),
            cuda: target == Target::Cuda,
            own_openmp: source.keeps_pragmas(),
            pragmas: source.has_pragmas(),
            dimension,
            fields,
            mirrors,
            // No array of C has no element.
            views: first_view.max(1),
            levels: first_level,
            series: program.series.iter().map(values).collect(),
            sizes: (0..dimension).collect(),
            strides: (0..dimension.saturating_sub(1)).collect(),
            parameters: program.parameters.iter().map(|parameter| parameter.name.clone()).collect(),
            tested,
            paced: source.nest.observed.as_ref().is_some_and(Observed::is_paced),
            lends: tested || !source.own_arrays().is_empty() || alone,
            in_place,
            line: 64 / least.unwrap_or(ElementType::F32.bytes()),
            whole,
            letters,
            small,
            replaces,
            waves: super::waves::of(source, target).map(WaveTexts::new),
        }
    }
}

/// The type of the integers that an array of the program holds; `None` for one of another type.
fn integers(source: &CProgram, field: usize, target: Target) -> Option<&'static str> {
    let (What::State { form, .. } | What::Coefficient(form)) = &source.stencil.fields[field].what else {
        return None;
    };
    let ctype = source.nest.integers.get(&form.array)?;
    let own = IntType::of(ctype)?;
    Some(match (own.bits, own.unsigned) {
        // As C++ has it.
        (1, _) if target == Target::Cuda => "bool",
        (1, _) => "_Bool",
        (8, false) if type_text(ctype) == "char" => "char",
        (8, false) => "signed char",
        (8, true) => "unsigned char",
        (16, false) => "short",
        (16, true) => "unsigned short",
        (_, false) => "int",
        (_, true) => "unsigned int",
    })
}
