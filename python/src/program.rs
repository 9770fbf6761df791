//! A stencil program as Python sees it.

use crate::build::{Built, Request};
use crate::errors::raised;
use crate::interpreter::detached;
use polyhedral::diagnostic::Diagnostics;
use polyhedral::program::{Boundary, ElementType, FieldRole};
use polyhedral::source::{SourceFile, Span};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;
use tilewright::Stencil;
use tilewright::load::LoadOptions;

/// A program, and what is known of it.
#[pyclass(frozen, module = "tilewright._tilewright")]
pub struct Program {
    stencil: Arc<Stencil>,
}

/// Where a part of a program's text comes from: bytes of the text, and bytes of the source that its author wrote.
type Origin = (usize, usize, usize, usize);

#[pymethods]
impl Program {
    /// A shipped stencil or a file.
    #[staticmethod]
    #[pyo3(signature = (spec, element = None))]
    fn load(py: Python<'_>, spec: &str, element: Option<&str>) -> PyResult<Program> {
        let options = LoadOptions { element: element_of(element)?, ..LoadOptions::default() };
        let stencil = detached(py, || tilewright::load::load_with(spec, &options));
        Ok(Program { stencil: Arc::new(raised(py, stencil)?) })
    }

    /// A text of the stencil language; `origins` tell which part of `source` each part of it was made of.
    #[staticmethod]
    #[pyo3(signature = (name, text, element = None, source = None, origins = Vec::new()))]
    fn parse(
        py: Python<'_>,
        name: &str,
        text: &str,
        element: Option<&str>,
        source: Option<&str>,
        origins: Vec<Origin>,
    ) -> PyResult<Program> {
        let element = element_of(element)?;
        let parsed = detached(py, || polyhedral::parse(name, text)).map_err(|found| match source {
            Some(source) => moved(found, name, source, &origins),
            None => found,
        });
        let program = raised(py, parsed.map_err(tilewright::Error::from))?;
        let program = match element {
            Some(element) => program.with_element_type(element),
            None => program,
        };
        Ok(Program { stencil: Arc::new(Stencil::of(Arc::new(program))) })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.stencil.program.name
    }

    #[getter]
    fn description(&self) -> &str {
        &self.stencil.program.description
    }

    /// Names of the space indices.
    #[getter]
    fn indices(&self) -> Vec<String> {
        self.stencil.program.space_indices.clone()
    }

    /// Name, type, initial levels (0 for a coefficient) and stored levels of each field.
    #[getter]
    fn fields(&self) -> Vec<(String, &'static str, usize, usize)> {
        let fields = self.stencil.program.fields.iter();
        let one = |field: &polyhedral::program::Field| {
            let levels = match field.role {
                FieldRole::State { levels, .. } => levels,
                FieldRole::Coefficient => 0,
            };
            (field.name.clone(), field.element.name(), levels, field.role.slots())
        };
        fields.map(one).collect()
    }

    /// Name, type, and how many values a run has beside its steps, of each series.
    #[getter]
    fn series(&self) -> Vec<(String, &'static str, i64)> {
        let all = self.stencil.program.series.iter();
        all.map(|series| (series.name.clone(), series.element.name(), series.length(0))).collect()
    }

    /// Name and default of each parameter.
    #[getter]
    fn parameters(&self) -> Vec<(String, f64)> {
        let all = self.stencil.program.parameters.iter();
        all.map(|parameter| (parameter.name.clone(), parameter.default)).collect()
    }

    /// Whether points that no statement computes keep one value over time.
    #[getter]
    fn fixed_boundary(&self) -> bool {
        self.stencil.program.boundary == Boundary::Fixed
    }

    /// Whether the grid wraps around in some dimension.
    #[getter]
    fn is_periodic(&self) -> bool {
        self.stencil.program.is_periodic()
    }

    /// Whether it was found in a C program.
    #[getter]
    fn is_c(&self) -> bool {
        self.stencil.c.is_some()
    }

    /// The program in the stencil language.
    #[getter]
    fn text(&self) -> String {
        self.stencil.program.to_source()
    }

    /// Strides, in elements, of arrays of this size whose rows suit the caches; and those between levels.
    fn padded(&self, py: Python<'_>, size: Vec<i64>) -> PyResult<(Vec<usize>, usize)> {
        let layout = execution::layout::Layout::padded(&self.stencil.program, &size);
        let layout = raised(py, layout.map_err(tilewright::Error::from))?;
        Ok((layout.strides().to_vec(), layout.level_stride()))
    }

    /// Chooses tile sizes, proves, generates, compiles and loads.
    fn build(&self, py: Python<'_>, request: Request) -> PyResult<Built> {
        Built::of(py, &self.stencil, request)
    }
}

fn element_of(name: Option<&str>) -> PyResult<Option<ElementType>> {
    let known = [ElementType::F32, ElementType::F64];
    let Some(name) = name else { return Ok(None) };
    let found = known.into_iter().find(|element| element.name() == name);
    found.map(Some).ok_or_else(|| PyValueError::new_err(format!("there is no element type {name:?}")))
}

/// The diagnostics on the text that their reader wrote.
fn moved(found: Diagnostics, name: &str, source: &str, origins: &[Origin]) -> Diagnostics {
    let place = |span: &Span| {
        // The smallest part that has all of it; else the last one before it.
        let around = origins.iter().filter(|origin| origin.0 <= span.start && span.end <= origin.1);
        let smallest = around.min_by_key(|origin| origin.1 - origin.0);
        let before = || origins.iter().filter(|origin| origin.0 <= span.start).max_by_key(|origin| origin.0);
        let (start, end) = smallest.or_else(before).map_or((0, 0), |origin| (origin.2, origin.3));
        Span { start, end }
    };
    let mut list = found.list;
    for one in &mut list {
        one.primary.span = place(&one.primary.span);
        for label in &mut one.related {
            label.span = place(&label.span);
        }
    }
    let source = SourceFile { name: name.to_owned(), text: source.to_owned() };
    Diagnostics { source: Arc::new(source), list }
}
