//! What many shared objects have in common, compiled once: a file that each of them links, and a header that each of them
//! includes first.

use super::probe::Probe;
use super::shared_object::{CompileOptions, SHARED, SharedObject, SourceText};
use super::{Compiler, Language};
use crate::cache::{Cache, Entry, Key};
use crate::error::{Error, Result};
use std::path::Path;
use std::sync::Arc;

/// Name of the compiled file in its cache entry.
const COMPILED: &str = "common.o";

/// A header and a compiled file for [`Compiler::compile_shared_on`], which stay in their place as long as this value
/// lives.
#[derive(Debug, Clone)]
pub struct Common {
    entry: Entry,
    key: Key,
}

impl Common {
    /// What the compiler is told of it: its header is found from the folder.
    fn arguments(&self) -> [String; 3] {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        ["-I".to_owned(), text(self.entry.folder()), text(&self.entry.file(COMPILED))]
    }
}

impl Compiler {
    /// Compiles `source` and, if there is one and the compiler can, `header`, which both may include the `others`. Through the
    /// cache, as [`Compiler::compile_shared`]. The header is worth it where it is the first line of code of what includes it.
    ///
    /// # Errors
    /// As for [`Compiler::compile_shared`].
    pub fn compile_common(
        &self,
        header: Option<&SourceText>,
        source: &SourceText,
        others: &[SourceText],
        options: &CompileOptions,
        cache: &Arc<Cache>,
    ) -> Result<Common> {
        let sources: Vec<SourceText> = header.into_iter().chain([source]).chain(others).cloned().collect();
        sources.iter().try_for_each(SourceText::check)?;
        let supported = Probe::of(self, cache)?;
        let (arguments, _) = self.code_arguments(options, &supported);
        let key = self.key_of("common", &sources, &arguments);
        let build = |folder: &Path| {
            SourceText::write_all(&sources, folder)?;
            let run = |more: &[&str]| {
                let mut arguments = arguments.clone();
                arguments.retain(|argument| argument != SHARED);
                arguments.extend(more.iter().copied().map(str::to_owned));
                self.run(folder, &arguments)
            };
            let header_option = match self.language() {
                Language::C | Language::Mpi => "c-header",
                Language::Cxx => "c++-header",
            };
            if let Some(header) = header {
                let compiled = format!("{}.gch", header.name);
                // A compiler that cannot reads the header's text each time.
                if let Err(Error::Interrupted) = run(&["-x", header_option, &header.name, "-o", &compiled]) {
                    return Err(Error::Interrupted);
                }
            }
            run(&["-c", "-x", self.language().option(), &source.name, "-o", COMPILED])
        };
        Ok(Common { entry: cache.get_or_build(&key, &build)?, key })
    }

    /// [`Compiler::compile_shared`] on top of what is compiled already, with the same options.
    ///
    /// # Errors
    /// As for [`Compiler::compile_shared`].
    pub fn compile_shared_on(
        &self,
        common: &[Common],
        sources: &[SourceText],
        options: &CompileOptions,
        cache: &Arc<Cache>,
    ) -> Result<SharedObject> {
        let key: Vec<&str> = common.iter().map(|common| common.key.as_str()).collect();
        let arguments: Vec<String> = common.iter().flat_map(Common::arguments).collect();
        self.compile(sources, options, Some((&key.join(" "), &arguments)), cache)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn one_file_serves_several_libraries() {
        let Ok(compiler) = Compiler::find(Language::Cxx) else {
            println!("SKIPPED: there is no C++ compiler");
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path()).unwrap();
        let options =
            CompileOptions { openmp: false, native: false, strict: true, ..CompileOptions::default() };
        let more = [SourceText::new("more.h", "#define ANSWER 42\n")];
        let header =
            "#ifndef COMMON\n#define COMMON\n#include \"more.h\"\nextern const int answer;\n#endif\n";
        let header = SourceText::new("common.h", header);
        let common = |name: &str| {
            let text = format!("#include \"common.h\"\nconst int {name} = ANSWER;\n");
            let source = SourceText::new("common.cpp", text);
            compiler.compile_common(Some(&header), &source, &more, &options, &cache).unwrap()
        };
        let compile = |common: &Common, name: &str| {
            let text = format!("#include \"common.h\"\nconst int *{name}() {{ return &answer; }}\n");
            compiler.compile_shared_on(
                std::slice::from_ref(common),
                &[SourceText::new("library.cpp", text)],
                &options,
                &cache,
            )
        };
        let first = common("answer");
        assert!(!compile(&first, "one").unwrap().from_cache());
        assert!(!compile(&first, "two").unwrap().from_cache());
        assert!(compile(&common("answer"), "one").unwrap().from_cache());
        // What is linked is part of the library and of its key: without the constant, it does not load.
        assert!(matches!(compile(&common("other"), "one"), Err(Error::CompilerFailed { .. })));
        // A compiler that makes nothing of the header reads its text.
        std::fs::remove_file(first.entry.file("common.h.gch")).ok();
        assert!(!compile(&first, "three").unwrap().from_cache());
    }
}
