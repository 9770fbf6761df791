//! Profiles of compiled functions for x86-64: what their instructions are, each weighed by the loops around it.
//!
//! Nobody knows from the code how often a loop goes round. An instruction counts ten times for each loop that it stands in, as
//! compilers estimate it; a loop is what lies between a jump backwards and where it goes to.

use super::slots::{self, Slots};
use crate::error::{Error, Result};
use ::adaptive::machines::profiles::{Profile, Profiles};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use toolchain::cache::Cache;
use toolchain::child::{self, Failure};
use toolchain::compiler::{CompileOptions, Compiler, Language, SourceText};

/// The metrics, in the order of [`metrics`].
const METRICS: [&str; 5] = ["inst_fp_32", "inst_fp_64", "inst_atomic", "inst_memory", "inst_stack"];
/// How much more often what stands in a loop runs.
const ROUNDS: f64 = 10.0;
/// Loops that count.
const DEEPEST: i32 = 6;
/// Time that the disassembler may take.
const LIMIT: Duration = Duration::from_secs(120);

/// A function of a variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// The variant.
    pub variant: String,
    /// The name of the function in the file.
    pub symbol: String,
}

/// Profiles of functions of a compiled file: an object, a library or a program.
///
/// # Errors
/// No `objdump`; a file that it cannot read, or of another processor; a function that is not there.
pub fn functions(file: &Path, functions: &[Function]) -> Result<Profiles> {
    let listing = disassembled(file)?;
    let code = code(&listing);
    let profile = |function: &Function| {
        let Some(lines) = code.get(function.symbol.as_str()).filter(|lines| !lines.is_empty()) else {
            let near = text_escape::suggest::nearest(&function.symbol, code.keys().copied());
            let message = format!("{} has no code of a function `{}`", file.display(), function.symbol);
            return Err(
                Error::wrong_input(message).maybe_hint(near.map(|near| format!("did you mean `{near}`?")))
            );
        };
        Ok(Profile {
            variant: function.variant.clone(),
            kernel: function.symbol.clone(),
            input: String::new(),
            metrics: metrics(lines),
        })
    };
    let rows: Result<Vec<Profile>> = functions.iter().map(profile).collect();
    Ok(Profiles::of(&METRICS, rows?))
}

/// What `objdump` says of a file.
fn disassembled(file: &Path) -> Result<String> {
    let failed = |reason: &str| {
        let message = format!("objdump cannot read {}: {reason}", file.display());
        Error::wrong_input(message)
            .hint("name an object, a library or a program that a compiler made for x86-64")
    };
    // A name that begins with a dash is no option.
    let file = std::path::absolute(file).map_err(|error| failed(&error.to_string()))?;
    let mut command = Command::new("objdump");
    command.env("LC_ALL", "C").args(["-d", "--no-show-raw-insn", "-M", "intel", "-w"]).arg(&file);
    let output = match child::output(&mut command, b"", LIMIT) {
        Ok(output) => output,
        Err(Failure::Interrupted) => return Err(toolchain::Error::Interrupted.into()),
        Err(Failure::Start(error)) => {
            let message = format!("objdump cannot be run: {error}");
            return Err(Error::infeasible(message).hint("install GNU binutils"));
        }
        Err(failure) => return Err(failed(&failure.to_string())),
    };
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim()));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !text.contains("file format elf64-x86-64") {
        return Err(failed("it is not of x86-64"));
    }
    Ok(text)
}

/// An instruction: its address, and its text.
type Line<'a> = (u64, &'a str);

/// The instructions of each function.
fn code(listing: &str) -> BTreeMap<&str, Vec<Line<'_>>> {
    let mut code: BTreeMap<&str, Vec<Line<'_>>> = BTreeMap::new();
    let mut function = None;
    for line in listing.lines() {
        if let Some((address, name)) = line.strip_suffix(">:").and_then(|line| line.split_once(" <"))
            && u64::from_str_radix(address, 16).is_ok()
        {
            code.entry(name).or_default();
            function = Some(name);
        } else if let (Some(name), Some((address, text))) = (function, line.trim_start().split_once(":\t"))
            && let Ok(address) = u64::from_str_radix(address, 16)
        {
            code.entry(name).or_default().push((address, text.trim()));
        }
    }
    code
}

/// What the instructions of a function are, over all of them.
fn metrics(lines: &[Line<'_>]) -> Vec<f64> {
    let (first, last) = (lines[0].0, lines[lines.len() - 1].0);
    // Where each loop begins, and its last jump back.
    let mut loops: BTreeMap<u64, u64> = BTreeMap::new();
    for &(address, text) in lines {
        if let Some(to) = jump(text).filter(|to| (first..=address.min(last)).contains(to)) {
            let end = loops.entry(to).or_insert(address);
            *end = (*end).max(address);
        }
    }
    let (mut counts, mut all) = ([0.0; METRICS.len()], 0.0);
    for &(address, text) in lines {
        let words = plain(text);
        if words.is_empty() || words.starts_with("nop") || words.starts_with("endbr") {
            continue;
        }
        let around = loops.iter().filter(|&(begin, end)| (*begin..=*end).contains(&address)).count();
        let weight = ROUNDS.powi((around as i32).min(DEEPEST));
        all += weight;
        for (count, counts_as) in counts.iter_mut().zip(kinds(text, words)) {
            *count += if counts_as { weight } else { 0.0 };
        }
    }
    counts.iter().map(|count| count / f64::max(all, 1.0)).collect()
}

/// Where a jump goes to.
fn jump(text: &str) -> Option<u64> {
    let (opcode, rest) = plain(text).split_once(char::is_whitespace)?;
    if !opcode.starts_with('j') {
        return None;
    }
    u64::from_str_radix(rest.split_whitespace().next()?, 16).ok()
}

/// The instruction without what stands in front of it.
fn plain(text: &str) -> &str {
    const PREFIXES: [&str; 10] =
        ["lock", "rep", "repz", "repnz", "bnd", "notrack", "data16", "cs", "xacquire", "xrelease"];
    let mut rest = text.trim_start();
    while let Some((first, after)) = rest.split_once(char::is_whitespace)
        && PREFIXES.contains(&first)
    {
        rest = after.trim_start();
    }
    rest
}

/// Which of the metrics an instruction counts for.
fn kinds(text: &str, plain: &str) -> [bool; METRICS.len()] {
    let (opcode, operands) = plain.split_once(char::is_whitespace).unwrap_or((plain, ""));
    let base = opcode.strip_prefix('v').unwrap_or(opcode);
    let computes = ["add", "sub", "mul", "div", "sqrt", "min", "max", "fm", "fnm", "hadd", "hsub", "dp"]
        .iter()
        .any(|start| base.starts_with(start));
    let of = |endings: [&str; 2]| computes && endings.iter().any(|ending| base.ends_with(ending));
    let accesses = operands.contains('[') && !opcode.starts_with("lea");
    let atomic = text.trim_start().starts_with("lock ") || (opcode == "xchg" && accesses);
    let stack = operands.contains("[rsp");
    let plainly = accesses && !atomic;
    [of(["ss", "ps"]), of(["sd", "pd"]), atomic, plainly && !stack, plainly && stack]
}

/// One instruction each, or a load with its store.
fn statement(proxy: &str, at: usize) -> (String, usize) {
    let of = at / 2 % 4;
    let even = at.is_multiple_of(2);
    match proxy {
        "sp-gflop" if even => (format!("f{of} = f{of} * alpha;"), 1),
        "sp-gflop" => (format!("f{of} = f{of} + beta;"), 1),
        "dp-gflop" if even => (format!("d{of} = d{of} * scale;"), 1),
        "dp-gflop" => (format!("d{of} = d{of} + shift;"), 1),
        "atomic" => (format!("__atomic_fetch_add(a + {}, x{}, __ATOMIC_RELAXED);", 16 * (at % 2), at % 4), 1),
        "mem-bw" => (format!("far[{}] = far[{}];", 32 * at, 32 * at + 16), 2),
        _ => (format!("close[{}] = close[{}];", 2 * at % 64, (2 * at + 1) % 64), 2),
    }
}

/// The text of all proxies.
fn source() -> String {
    let integer = |at: usize| match at.is_multiple_of(2) {
        true => format!("x{0} = x{0} * m;", at / 2 % 4),
        false => format!("x{0} = x{0} ^ x{1};", at / 2 % 4, (at / 2 + 1) % 4),
    };
    let slots = Slots { integer, own: statement };
    let mut text = String::new();
    for (proxy, intensity) in slots::all() {
        text += &format!(
            "unsigned {}(unsigned *a, long rounds, unsigned m, float alpha, float beta, double scale, double shift)
{{
    volatile unsigned close[64], *far = a;
    unsigned x0 = m + 1, x1 = m + 2, x2 = m + 3, x3 = m + 4;
    float f0 = m, f1 = f0 + 1, f2 = f0 + 2, f3 = f0 + 3;
    double d0 = m, d1 = d0 + 1, d2 = d0 + 2, d3 = d0 + 3;
    close[0] = m;
    for (long round = 0; round < rounds; ++round) {{
{}    }}
    return far[0] + close[0] + x0 + x1 + x2 + x3 + (unsigned)(f0 + f1 + f2 + f3) + (unsigned)(d0 + d1 + d2 + d3);
}}
",
            slots::symbol(proxy, intensity),
            slots.body(proxy, intensity)
        );
    }
    text
}

/// The proxies' profiles.
pub fn proxies() -> Result<Profiles> {
    let options = CompileOptions {
        optimization: 2,
        openmp: false,
        native: false,
        // Functions that do the same stay two.
        arguments: vec!["-fno-ipa-icf".to_owned()],
        ..CompileOptions::default()
    };
    let sources = [SourceText::new("proxies.c", source())];
    let compiler = Compiler::find(Language::C).map_err(toolchain::Error::from)?;
    let compiled = compiler.compile_shared(&sources, &options, &Cache::open()?)?;
    let of = |(proxy, intensity): (&str, u8)| Function {
        variant: proxy.to_owned(),
        symbol: slots::symbol(proxy, intensity),
    };
    let all: Vec<Function> = slots::all().map(of).collect();
    let mut profiles = functions(&compiled.path(), &all)?;
    for (row, (_, intensity)) in profiles.rows.iter_mut().zip(slots::all()) {
        row.input = intensity.to_string();
    }
    Ok(profiles)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "
t.o:     file format elf64-x86-64

0000000000000000 <sum>:
   0:\tendbr64
   4:\tmovss  xmm0,DWORD PTR [rdi]
   8:\taddss  xmm0,DWORD PTR [rdi+0x4]
   c:\tlock add DWORD PTR [rsi],eax
  10:\tcmp    rdi,rdx
  13:\tjne    4 <sum+0x4>
  15:\tmovsd  QWORD PTR [rsp+0x8],xmm1
  1b:\tlea    rax,[rdi+0x8]
  1f:\tvfmadd231pd ymm1,ymm2,ymm3
  24:\tpaddd  xmm1,xmm2
  28:\tret

0000000000000030 <other>:
  30:\tjmp    0 <sum>
";

    #[test]
    fn instructions_are_weighed_by_their_loops() {
        let code = code(LISTING);
        let found = metrics(&code["sum"]);
        let all = 5.0 * ROUNDS + 5.0;
        let expected = [ROUNDS, 1.0, ROUNDS, 2.0 * ROUNDS, 1.0].map(|count| count / all);
        assert_eq!(found, expected);
        // A jump into another function is no loop.
        assert_eq!(metrics(&code["other"]), [0.0; 5]);
    }
}
