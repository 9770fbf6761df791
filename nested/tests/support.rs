//! What the tests share: inputs by chance, and programs compiled and compared with the interpreter.

use nested::analysis::Implementation;
use nested::data::{Array, Inputs, Output};
use nested::emit::generated::Mode;
use nested::native::{Native, RunError, options};
use nested::openmp::generate;
use nested::program::Program;
use std::sync::{Arc, OnceLock};
use toolchain::cache::Cache;
use toolchain::compiler::{Compiler, Language};

/// Numbers by chance (splitmix64).
pub struct Chance(pub u64);

impl Chance {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    pub fn number(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64 * 2.0 - 1.0
    }

    pub fn numbers(&mut self, count: usize) -> Array {
        Array::F64((0..count).map(|_| self.number()).collect())
    }
}

/// The system's C compiler, or none, which is said.
pub fn compiler() -> Option<Compiler> {
    match Compiler::find(Language::C) {
        Ok(compiler) => Some(compiler),
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    }
}

pub fn cache() -> Arc<Cache> {
    static CACHE: OnceLock<Arc<Cache>> = OnceLock::new();
    CACHE.get_or_init(|| Cache::private().unwrap()).clone()
}

pub fn parsed(text: &str) -> Program {
    nested::parse("test.nested", text).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

pub fn inputs<const N: usize>(list: [(&str, Array); N]) -> Inputs {
    list.into_iter().map(|(name, array)| (name.to_owned(), array)).collect()
}

/// Compiles a program, and runs it.
pub fn native(
    program: &Program,
    chosen: &[Implementation],
    mode: Mode,
    compiler: &Compiler,
    inputs: &Inputs,
) -> Result<Vec<Output>, RunError> {
    let generated = generate(program, chosen, mode, "program");
    let text = generated.text.clone();
    let mut options = options(true, mode == Mode::Fast);
    // As it is written, which the compiler does in a third of the time; what may change results is optimised.
    (options.optimization, options.strict) = (u8::from(mode == Mode::Fast), true);
    let built = Native::build(program, generated, compiler, &options, &cache());
    let built = built.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut prepared = built.prepare(inputs)?;
    // Arrays of the first run are used again.
    for _ in 0..2 {
        prepared.run(3)?;
    }
    Ok(prepared.outputs())
}
