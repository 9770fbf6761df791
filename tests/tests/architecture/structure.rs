//! The house has no circles: no file of a crate needs, over others, itself; and each crate needs those below it alone.
//!
//! A file needs another one where it names something that is defined there. A name that a module hands on (`pub use`)
//! is followed to its definition. Tests inside a file do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree};
use tilewright_tests::{files, shown, workspace};

/// The crates from the ground up; each may need those before it.
pub const FLOORS: &[&str] = &[
    "text-escape",
    "c-tree",
    "toolchain",
    "safe-io",
    "polyhedral",
    "language-server",
    "c-frontend",
    "hhc-codegen",
    "cost-models",
    "machine-code",
    "certificates",
    "optimizer",
    "execution",
    "plots",
    "trials",
    "nested",
    "tuner",
    "adaptive",
    "adaptive-c",
    "variant-benchmarks",
    "tilewright",
    "cli",
    "python",
    "benches",
];

/// Path of a module inside its crate; empty for the crate itself.
type Module = Vec<String>;

/// A crate's modules that have files of their own.
struct Crate {
    files: BTreeMap<Module, PathBuf>,
    /// The paths that each names.
    named: BTreeMap<Module, Vec<Vec<String>>>,
    /// Names that a module hands on, with their paths as they stand in the module.
    handed_on: BTreeMap<Module, BTreeMap<String, Vec<String>>>,
}

fn module_of(source: &Path, file: &Path) -> Module {
    let relative = file.strip_prefix(source).unwrap().with_extension("");
    let mut module: Module =
        relative.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    if module.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        module.pop();
    }
    module
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    let is_test = |attribute: &Attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Meta>().is_ok_and(|meta| meta.path().is_ident("test"))
    };
    attributes.iter().any(is_test)
}

/// All paths of a `use`, with the names that they get.
fn leaves(tree: &UseTree, before: &[String], found: &mut Vec<(Vec<String>, Option<String>)>) {
    let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
    match tree {
        UseTree::Path(path) => leaves(&path.tree, &with(&path.ident), found),
        UseTree::Name(name) if name.ident == "self" => {
            found.push((before.to_vec(), before.last().cloned()));
        }
        UseTree::Name(name) => found.push((with(&name.ident), Some(name.ident.to_string()))),
        UseTree::Rename(name) if name.ident == "self" => {
            found.push((before.to_vec(), Some(name.rename.to_string())));
        }
        UseTree::Rename(name) => found.push((with(&name.ident), Some(name.rename.to_string()))),
        UseTree::Glob(_) => found.push((before.to_vec(), None)),
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, before, found)),
    }
}

impl Crate {
    fn read(source: &Path) -> Crate {
        let folder = shown(source).to_string();
        Crate::of(files(&folder, &[".rs"]).into_iter().map(|file| (module_of(source, &file), file)).collect())
    }

    fn of(files: BTreeMap<Module, PathBuf>) -> Crate {
        let (mut named, mut handed_on) = (BTreeMap::new(), BTreeMap::new());
        for (module, file) in &files {
            let file = parsed(file);
            let mut paths = Names { paths: Vec::new() };
            paths.visit_file(&file);
            named.insert(module.clone(), paths.paths);
            let mut names = BTreeMap::new();
            for item in file.items {
                if let Item::Use(item) = item
                    && !matches!(item.vis, syn::Visibility::Inherited)
                {
                    let mut found = Vec::new();
                    leaves(&item.tree, &[], &mut found);
                    names.extend(found.into_iter().filter_map(|(path, name)| Some((name?, path))));
                }
            }
            handed_on.insert(module.clone(), names);
        }
        Crate { files, named, handed_on }
    }

    /// The module in whose file the thing is defined that `path` names in `module`; `None` outside of the crate.
    fn defined_in(&self, module: &Module, path: &[String], depth: usize) -> Option<Module> {
        if depth > 8 {
            return None;
        }
        let (mut at, mut rest) = match path.first()?.as_str() {
            "crate" => (Module::new(), &path[1..]),
            "self" => (module.clone(), &path[1..]),
            "super" => (module[..module.len().checked_sub(1)?].to_vec(), &path[1..]),
            first => {
                let child = [&module[..], &[first.to_owned()]].concat();
                if !self.files.contains_key(&child) {
                    return None;
                }
                (module.clone(), path)
            }
        };
        while let Some((first, others)) = rest.split_first() {
            if first == "super" {
                at.pop()?;
                rest = others;
                continue;
            }
            let child = [&at[..], std::slice::from_ref(first)].concat();
            if self.files.contains_key(&child) {
                (at, rest) = (child, others);
                continue;
            }
            if let Some(target) = self.handed_on.get(&at).and_then(|names| names.get(first)) {
                let whole = [&target[..], others].concat();
                return self.defined_in(&at, &whole, depth + 1);
            }
            break;
        }
        self.files.contains_key(&at).then_some(at)
    }

    /// The modules that a module needs.
    fn needs(&self, module: &Module) -> BTreeSet<Module> {
        let found = self.named[module].iter().filter_map(|path| self.defined_in(module, path, 0));
        found.filter(|other| other != module).collect()
    }

    /// Modules that need themselves over others, each circle once.
    fn circles(&self) -> Vec<BTreeSet<Module>> {
        let arrows: BTreeMap<&Module, BTreeSet<Module>> =
            self.files.keys().map(|module| (module, self.needs(module))).collect();
        let reached = |from: &Module| {
            let mut known = BTreeSet::new();
            let mut open = vec![from.clone()];
            while let Some(module) = open.pop() {
                for next in arrows.get(&module).into_iter().flatten() {
                    if known.insert(next.clone()) {
                        open.push(next.clone());
                    }
                }
            }
            known
        };
        let all: BTreeMap<&Module, BTreeSet<Module>> =
            self.files.keys().map(|module| (module, reached(module))).collect();
        let mut circles = Vec::new();
        for (module, reached) in &all {
            if reached.contains(*module) {
                let members =
                    reached.iter().filter(|other| all.get(other).is_some_and(|back| back.contains(*module)));
                let circle: BTreeSet<Module> = members.cloned().collect();
                if !circles.contains(&circle) {
                    circles.push(circle);
                }
            }
        }
        circles
    }
}

/// The paths that a file names.
struct Names {
    paths: Vec<Vec<String>>,
}

impl<'a> Visit<'a> for Names {
    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        // What is handed on is not needed.
        if matches!(item.vis, syn::Visibility::Inherited) && !is_for_tests(&item.attrs) {
            let mut found = Vec::new();
            leaves(&item.tree, &[], &mut found);
            self.paths.extend(found.into_iter().map(|(path, _)| path));
        }
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        if path.leading_colon.is_none() && path.segments.len() > 1 {
            self.paths.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }
}

fn parsed(file: &Path) -> syn::File {
    let text = std::fs::read_to_string(file).unwrap();
    syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", shown(file)))
}

fn named(circle: &BTreeSet<Module>, own: &Crate) -> String {
    let mut lines = Vec::new();
    for module in circle {
        let needed = own.needs(module);
        let inside: Vec<String> =
            needed.intersection(circle).map(|other| shown(&own.files[other]).to_string()).collect();
        lines.push(format!("    {} -> {}", shown(&own.files[module]), inside.join(", ")));
    }
    lines.join("\n")
}

#[test]
fn no_file_needs_itself_over_others() {
    let mut found = Vec::new();
    for folder in FLOORS {
        let own = Crate::read(&workspace().join(folder).join("src"));
        found.extend(own.circles().iter().map(|circle| format!("  {folder}:\n{}", named(circle, &own))));
    }
    assert!(found.is_empty(), "{} circles:\n{}", found.len(), found.join("\n"));
}

#[test]
fn crates_need_those_below_them() {
    let manifest =
        |folder: &str| std::fs::read_to_string(workspace().join(folder).join("Cargo.toml")).unwrap();
    // As dependencies are called in manifests: by the folder, whatever the package's name is.
    let key = |folder: &'static str| if folder == "cli" { "tilewright-cli" } else { folder };
    let mut seen = 0;
    for (floor, folder) in FLOORS.iter().enumerate() {
        let text = manifest(folder);
        let needed = text.split("[dependencies]\n").nth(1).unwrap_or_default();
        let needed = needed.split("\n[").next().unwrap_or_default();
        for name in needed.lines().filter_map(|line| line.split(['.', ' ']).next()) {
            let place = FLOORS.iter().position(|folder| key(folder) == name);
            assert!(place.is_none_or(|place| place < floor), "{folder} needs {name}, which stands above it");
            seen += usize::from(place.is_some());
        }
    }
    assert!(seen > 50, "only {seen} needs were found");
}

#[test]
fn circles_are_seen() {
    let folder = tempfile::tempdir_in(workspace().join("target")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("lib.rs", "mod a;\nmod b;\nmod c;\npub use a::One;\n");
    write("a.rs", "use crate::b::two;\npub struct One;\n");
    write("b.rs", "pub fn two() -> crate::One { super::c::three() }\n");
    write("c.rs", "pub fn three() {}\n#[cfg(test)]\nmod tests { use crate::b::two; }\n");
    let files = ["lib.rs", "a.rs", "b.rs", "c.rs"].map(|name| folder.path().join(name));
    let own = Crate::of(files.map(|file| (module_of(folder.path(), &file), file)).into());
    let circle = BTreeSet::from([vec!["a".to_owned()], vec!["b".to_owned()]]);
    assert_eq!(own.circles(), [circle]);
}
