//! The command line: all commands, and what they have in common.

use crate::adaptive::arguments::AdaptiveArguments;
use crate::analyze::AnalyzeArguments;
use crate::arguments::OutputArguments;
use crate::cache::CacheArguments;
use crate::calibrate::CalibrateArguments;
use crate::check::CheckArguments;
use crate::check_certificate::CheckCertificateArguments;
use crate::codesign::arguments::CodesignArguments;
use crate::compile::arguments::CompileArguments;
use crate::completions::CompletionsArguments;
use crate::convert::ConvertArguments;
use crate::explain::ExplainArguments;
use crate::inspect::InspectArguments;
use crate::list::ListArguments;
use crate::lsp::LspArguments;
use crate::manual::ManualArguments;
use crate::nested::arguments::NestedArguments;
use crate::pareto::ParetoArguments;
use crate::pick::PickArguments;
use crate::predict::PredictArguments;
use crate::run::RunArguments;
use crate::search::arguments::SearchArguments;
use crate::tune::TuneArguments;
use crate::validate::ValidateArguments;
use clap::{Parser, Subcommand};
use std::sync::LazyLock;

/// The version, and in a second line what can be left out of a build and is in this one.
static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    let all = [
        ("c", cfg!(feature = "c")),
        ("cuda", cfg!(feature = "cuda")),
        ("nvml", cfg!(feature = "nvml")),
        ("sqlite", cfg!(feature = "sqlite")),
    ];
    let inside: Vec<&str> = all.iter().filter(|(_, inside)| *inside).map(|(name, _)| *name).collect();
    let inside = if inside.is_empty() { "none".to_owned() } else { inside.join(", ") };
    format!("{}\nfeatures: {inside}", env!("CARGO_PKG_VERSION"))
});

/// Turns stencils into tiled CUDA and OpenMP code, proves the tiling legal, and runs it.
#[derive(Debug, Parser)]
#[command(
    name = "tilewright",
    version,
    long_version = LONG_VERSION.as_str(),
    max_term_width = 100,
    after_help = "\
Examples:
  tilewright list
  tilewright analyze heat2d --tile st=4,s0=6,s1=16 --svg tiles.svg
  tilewright compile heat2d --target openmp -o out
  tilewright run heat2d --size 4096x4096 --steps 100 --verify
  tilewright tune heat2d --size 4096x4096 --steps 1000 --machine a100

Exit codes: 0 success, 1 a failed check, an infeasible request or a failure outside, 2 wrong input,
130 after SIGINT (Ctrl-C), 143 after SIGTERM. docs/cli.md has the table, and what a signal does.

What is compiled is kept in $TILEWRIGHT_CACHE, else in $XDG_CACHE_HOME/tilewright, else in ~/.cache/tilewright, up to 2 GiB
($TILEWRIGHT_CACHE_MIB); `tilewright cache` shows and cleans it."
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// How to print it.
    #[command(flatten)]
    pub output: OutputArguments,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show the shipped stencils, the strategies, back ends and machines
    #[command(after_help = "\
Examples:
  tilewright list
  tilewright list --json")]
    List(ListArguments),
    /// Show dependences, cone, flops, bytes and footprint of a stencil, and the proof of its tiling
    #[command(after_help = "\
Examples:
  tilewright analyze heat2d
  tilewright analyze fdtd2d --tile st=6,s0=8,s1=32 --svg tiles.svg
  tilewright analyze examples/my.stencil --size 1024x1024 --steps 500 --json
  tilewright analyze heat2d --dump dependences")]
    Analyze(AnalyzeArguments),
    /// Write tiled source code, a header, a build file and manifest.json
    #[command(after_help = "\
Examples:
  tilewright compile heat2d --target openmp -o out
  tilewright compile examples/my.stencil --target cuda --tile st=4,s0=12,s1=64 -o out
  tilewright compile examples/prog.c -DN=1000 -Iexamples/include --target openmp -o out && make -C out
  tilewright compile wave2d --target openmp --strategy naive --dtype f64 --size 2048x2048 --steps 100 -o out
  tilewright compile heat2d --target openmp --dtype f64 --prefix f64 -o out64

The files in examples/ are part of Tilewright's source, beside its README. Files in the folder that Tilewright did not
write, or that were changed since, are not replaced: nothing is written then, and the files are listed. The list of its
own files is the folder's file .tilewright.")]
    Compile(CompileArguments),
    /// Count what a GPU's machine code issues, without a GPU, and say what limits it
    #[command(after_help = "\
Examples:
  tilewright inspect star2d1r --target cuda --sm 90 --size 16384x16384 --steps 1000
  tilewright inspect heat2d --target cuda --size 16384x16384 --steps 1000 --machine a100
  tilewright inspect star3d1r --target cuda --sm 80 --size 512x512x512 --steps 128 --strategy naive --tile s0=8,s1=8,s2=32 --json

Needs NVRTC (scripts/get-nvrtc.sh) and NVIDIA's disassembler (scripts/get-nvdisasm.sh), no GPU. docs/cuda-performance.md
says how the count works, and what it does not see. Without --machine the limits are those of the shipped GPU of this
compute capability, and tile sizes that are not given are the strategy's own; with it they are the model's best for it.")]
    Inspect(InspectArguments),
    /// Build and run a C program and its rewritten form, and compare all that they do
    #[command(after_help = "\
Examples:
  tilewright check examples/prog.c -Iexamples/include
  tilewright check examples/prog.c -DN=200 -Iexamples/include --tile st=4,s0=6,s1=16 -- 100 out.dat
  tilewright check examples/prog.c -Iexamples/include --ignore seconds --threads 2 --json

The original is built by the system's compiler ($CC, or cc, gcc, clang) as it stands, without contraction of products
and sums; both run in empty folders. Compared are stdout, the exit code and all files that they write, byte by byte.
Exit codes: 0 equal, 1 different, 2 a program that is not accepted, cannot be built or does not end.")]
    Check(CheckArguments),
    /// Print a C program's stencil in the stencil language
    #[command(after_help = "\
Examples:
  tilewright convert examples/prog.c -Iexamples/include
  tilewright convert examples/prog.c -DN=1000 -Iexamples/include -o prog.stencil

C programs are described in docs/c-input.md.")]
    Convert(ConvertArguments),
    /// Run a stencil, check the result and measure it
    #[command(after_help = "\
Examples:
  tilewright run heat2d --size 4096x4096 --steps 100
  tilewright run heat2d --size 501x333 --steps 20 --verify --json
  tilewright run examples/my.stencil --size 200x300 --steps 50 --output u=before.npy
  tilewright run examples/my.stencil --input u=before.npy --output u=after.npy --steps 50 --param a=0.2
  tilewright run heat3d --size 256x256x256 --steps 64 --strategy naive --threads 4 --repeat 5
  tilewright run heat2d --size 2000x2000 --steps 50 --repeat 5 --trials heat2d.db

Arrays are NumPy files (.npy, float32 or float64 in C order). A field or series without --input gets
pseudo-random values in [0, 1) that depend on --seed only. GStencil/s counts each grid point that the
stencil computes once per time step, whatever the number of statements, in the median run.
The first Ctrl-C stops within two seconds, the second at once; no half-written file is left.")]
    Run(RunArguments),
    /// Nested data-parallel programs: analyse, compile, run and tune them
    #[command(after_help = "\
Examples:
  tilewright nested list
  tilewright nested analyze spmv
  tilewright nested compile spmv -o spmv

The language is described in docs/nested.md.")]
    Nested(NestedArguments),
    /// Predict time, energy and power of a tiling on a machine, and say where they go
    #[command(after_help = "\
Examples:
  tilewright predict heat2d --size 4096x4096 --steps 1000 --tile st=8,s0=22,s1=64 --machine titanx
  tilewright predict heat3d --size 512x512x512 --steps 200 --tile st=2,s0=7,s1=10,s2=32 --machine gtx980 --svg bars.svg
  tilewright predict examples/my.stencil --size 2048x2048 --steps 100 --tile st=4,s0=16,s1=32 --machine v100 --json

A prediction is a model's: docs/models.md has its formulas. A tile that does not fit the machine is predicted, too;
then `feasible` is false and the exit code 1.")]
    Predict(PredictArguments),
    /// Find the tile sizes that are best by the model, with a proof
    #[command(after_help = "\
Examples:
  tilewright tune heat2d --size 4096x4096 --steps 1000 --machine gtx980
  tilewright tune heat3d --size 512x512x512 --steps 200 --machine h100 --objective edp --strategy hhc
  tilewright tune jacobi2d --size 8192x8192 --steps 500 --machine a100 --method closed-form
  tilewright tune heat1d --size 1048576 --steps 100 --machine k40c --formulation parts --json
  tilewright tune heat2d --size 4096x4096 --steps 1000 --machine a100 --certificate heat2d.certificate

exact: branch and bound; its value is proved to be the least. exhaustive: every candidate, for comparison.
closed-form: large faces s0 + st that fill whole rounds of tiles, a few hundred of them asked of the model; nothing is proved.")]
    Tune(TuneArguments),
    /// Check a certificate of `tune` without the search that wrote it
    #[command(after_help = "\
Examples:
  tilewright tune heat2d --size 4096x4096 --steps 1000 --machine a100 --certificate heat2d.certificate
  tilewright check-certificate heat2d.certificate --accept-passed-over
  tilewright check-certificate heat2d.certificate --accept-passed-over --machine a100 --stencil heat2d --json

The checker computes its own bounds, rounded outwards, and uses nothing of the search. Accepted: every tile of the space
lies in a box or is listed, no tile of a box is better than the box's bound, and none of the bounds and tiles is better
than the best. Exit codes: 0 accepted, 1 rejected, 2 no certificate.")]
    CheckCertificate(CheckCertificateArguments),
    /// Measure what the cost models must know about this machine, and write a machine file
    #[command(after_help = "\
Examples:
  tilewright calibrate --backend openmp -o here.toml
  tilewright calibrate --backend openmp --stencil heat2d --stencil examples/my.stencil -o here.toml
  tilewright calibrate --backend cuda -o gpu.toml
  tilewright calibrate --backend openmp -o @here

@here is kept in the state folder, and --machine @here takes it.
Run it on an idle machine: rounds that other programs disturb are repeated, but not for ever. Stencils that
are not measured get estimates from those that are.")]
    Calibrate(CalibrateArguments),
    /// Measure a sample of tile sizes and compare with the predictions of the model
    #[command(after_help = "\
Examples:
  tilewright calibrate --backend openmp -o here.toml
  tilewright validate heat2d --size 4096x4096 --steps 50 --machine here.toml --backend openmp
  tilewright validate heat2d --size 4096x4096 --steps 50 --machine here.toml --backend openmp --samples 60 --trials runs.jsonl --svg fit.svg
  tilewright calibrate --backend cuda -o gpu.toml
  tilewright validate heat2d --size 8192x8192 --steps 256 --machine gpu.toml --backend cuda

With --trials every run is kept in a store of trials; the same command continues where a stopped one ended, and explain
and search read it.")]
    Validate(ValidateArguments),
    /// Choose the hardware and the tile sizes together, and write a report
    #[command(after_help = "\
Examples:
  tilewright codesign paper -o study
  tilewright codesign examples/workload.toml --area 200..240 --objective edp -o out
  tilewright codesign today --what-if none --json -o out
  tilewright codesign examples/workload.toml -o study --trials designs.db
  tilewright codesign examples/workload.toml -o study --uncertainty default --samples 200

The folder gets designs.csv, pareto.csv, report.json and report.html, which needs nothing else. An
interrupted run goes on where it was if it is started again with the same arguments. docs/codesign.md
describes workload files.")]
    Codesign(CodesignArguments),
    /// Choose the designs of a finished study that serve its workload best together
    #[command(after_help = "\
Examples:
  tilewright codesign examples/workload.toml -o study
  tilewright pick study/report.json --designs 2
  tilewright pick study/report.json --designs 2 --weight heat2d=3 --json

Each stencil runs on that of the chosen designs which is best for it; the choice is the optimum of an integer program.")]
    Pick(PickArguments),
    /// Find the exact Pareto front of the rows of a CSV file
    #[command(after_help = "\
Examples:
  tilewright codesign examples/workload.toml -o study
  tilewright pareto study/designs.csv --x area_mm2 --y gflops --svg front.svg
  tilewright pareto study/designs.csv --x area_mm2 --y gflops --z gflops_per_watt --csv front.csv
  tilewright pareto examples/power.csv --x power --y time --min time

Smaller values of --x and larger ones of --y and --z are better, unless --min or --max say otherwise.")]
    Pareto(ParetoArguments),
    /// Search for the fastest configuration with few measurements: of a stencil, a recorded space or any program
    #[command(after_help = "\
Examples:
  tilewright search heat2d --size 2000x2000 --steps 100 --method dlmt --budget 40 --trials heat2d.db
  tilewright search --replay examples/heat2d-1024.csv --response seconds --method dlmt --model \"~ s0 + I(1/s0) + log(s1)\" --log steps.txt
  tilewright search --replay examples/heat2d-v100.json.gz --method random,genetic,surrogate --repetitions 30 --svg compare.svg
  tilewright search --space examples/transpose.json --command \"examples/transpose.sh {block_i} {block_j} {wide} {flag}\" --budget 50 --trials runs.db
  tilewright calibrate --backend openmp -o here.toml
  tilewright search heat2d --size 2000x2000 --steps 100 --method model --machine here.toml --budget 30
  tilewright search heat2d --size 8192x8192 --steps 512 --backend model --machine v100 --method genetic
  tilewright search --method help

A trial that fails counts against the budget and is kept; it never wins. A command prints the response, or a
JSON object with metrics by name, in its last line; exit code 65 means an invalid configuration, 66 that it does
not compile, 67 a wrong result. Its environment has every level: that of block_size is $TW_BLOCK_SIZE (capitals;
other signs than letters and digits become _). {block_size} is one word, whatever the level is; inside quotes and
$(..) it may stand for numbers only. {{block_size}} is that text itself; braces around other words are the shell's.
With --trials a search that was stopped or killed goes on where it was. One that is stopped reports the best so
far, and its exit code is 130 after SIGINT (Ctrl-C) and 143 after SIGTERM.")]
    Search(Box<SearchArguments>),
    /// Explain measured trials by a regression tree: which parameters matter, and where the best designs are
    #[command(after_help = "\
Examples:
  tilewright explain examples/heat2d-v100.json.gz --metric seconds
  tilewright explain examples/heat2d-v100.json.gz --metric seconds --where \"st >= 4\" --max-depth 4 --svg tree.svg
  tilewright explain examples/heat2d-v100.json.gz --nodes linear --stargazer
  tilewright run heat2d --size 400x400 --steps 20 --trials heat2d.db
  tilewright explain heat2d.db
  tilewright explain examples/heat2d-v100.json.gz examples/heat2d-h100.json.gz --join device
  tilewright explain 1024=examples/heat2d-1024.csv 4096=examples/heat2d-4096.csv --join size --metric \"seconds / size\"
  tilewright explain examples/power.csv --target \"power <= 215\" --target \"time <= 60\"
  tilewright explain examples/heat2d-v100.json.gz --until 0.1 --curve error.svg

Failed trials do not enter the tree and are counted. The accuracy is that of trees on 200 samples (--samples) and 200
other, held-out trials, mean of 20 draws. best_leaf.constraint in the JSON document is a constraint for the next search.")]
    Explain(ExplainArguments),
    /// Choose between the variants of a function by a learned model: train, predict, report, emit
    #[command(after_help = "\
Examples:
  tilewright adaptive train examples/sorting.csv -o sorting.model.json --hold-out 0.5
  tilewright adaptive predict sorting.model.json --values n=20000,descents=0.5
  tilewright adaptive report sorting.model.json examples/sorting.csv
  tilewright adaptive emit sorting.model.json -o chooser

A function has several correct variants; a model says from features of the input which one is the best. docs/adaptive.md
is the manual.")]
    Adaptive(AdaptiveArguments),
    /// Show what the cache of compiled programs takes up, or make it smaller
    #[command(after_help = "\
Examples:
  tilewright cache
  tilewright cache prune --most 500
  tilewright cache clear

It lies in $TILEWRIGHT_CACHE, else in $XDG_CACHE_HOME/tilewright, else in ~/.cache/tilewright. Above 2 GiB, or
$TILEWRIGHT_CACHE_MIB mebibytes, the entries that were not used for the longest time go by themselves. What was used in the
last ten minutes is not pruned.

Machine files and measured trials are never in it. Those of names such as @here are in the state folder, which is named
here and never pruned: $TILEWRIGHT_STATE, else $XDG_STATE_HOME/tilewright, else ~/.local/state/tilewright (macOS:
~/Library/Application Support/tilewright).")]
    Cache(CacheArguments),
    /// Print a script that lets a shell complete commands and options
    #[command(after_help = "\
Examples:
  tilewright completions bash > ~/.local/share/bash-completion/completions/tilewright
  tilewright completions zsh > ~/.zfunc/_tilewright
  tilewright completions fish > ~/.config/fish/completions/tilewright.fish

A new shell knows them. zsh looks in ~/.zfunc where ~/.zshrc has `fpath+=~/.zfunc` before `compinit`.")]
    Completions(CompletionsArguments),
    /// Write manual pages of all commands
    #[command(after_help = "\
Examples:
  tilewright manual -o ~/.local/share/man/man1

Then `man tilewright-run` shows what `tilewright run --help` says.")]
    Manual(ManualArguments),
    /// Serve an editor: mistakes in .stencil files while they are written, and what a name means
    #[command(after_help = "\
Examples:
  tilewright lsp

For editors that speak the Language Server Protocol: they start this command and talk to it on stdin and stdout, so that --json
is refused. docs/howto/editors.md says how editors are told. Ends when the editor says so or goes.")]
    Lsp(LspArguments),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }
}
