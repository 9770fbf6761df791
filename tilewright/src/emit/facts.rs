//! What is known of generated code, as its manifest says it.

use crate::adaptive::{Portfolio, Served, Worth};
use crate::contract::Liberties;
use hhc_codegen::TileSizes;
use hhc_codegen::strategy::Target;
use serde::Serialize;

/// What is known of the generated code.
#[derive(Debug, Clone, Serialize)]
pub struct Facts {
    /// Name of the stencil.
    pub stencil: String,
    /// Language.
    pub target: &'static str,
    /// What `--prefix` put before the names of everything; null without.
    pub prefix: Option<String>,
    /// What other code calls.
    pub entry_points: Vec<EntryPoint>,
    /// Tiling strategy.
    pub strategy: &'static str,
    /// Tile sizes by name; with `--adaptive` of the first tiling.
    pub tile: TileSizes,
    /// Tile sizes as `--tile` takes them.
    pub tile_text: String,
    /// Whether the tiling was proved legal; there is no code that was not.
    pub legal: bool,
    /// What the code computes in place of the program's own operations; nothing where results are its own, bit for bit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arithmetic: Option<Liberties>,
    /// Grid extents that `launches` is for.
    pub size: Option<Vec<i64>>,
    /// Time steps that `launches` is for.
    pub steps: Option<i64>,
    /// Number of launches (OpenMP: of parallel regions); null where it depends on what was not given.
    pub launches: Option<u64>,
    /// Launches in one iteration of the host's loop over `host_loop`.
    pub launches_per_iteration: usize,
    /// The host's loop: its variable and inclusive bounds, as C expressions.
    pub host_loop: HostLoop,
    /// Bytes of shared memory of a block, the most of any kernel; null without shared memory.
    pub shared_bytes_per_block: Option<u64>,
    /// Threads of a block, the most of any kernel; null without thread blocks.
    pub threads_per_block: Option<u64>,
    /// Where there are several tilings: all of them, and what chooses. The kernels are those of the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<ChoiceFacts>,
    /// The kernels.
    pub kernels: Vec<KernelFacts>,
    /// The fields, in the order of the arguments.
    pub fields: Vec<FieldFacts>,
    /// The series, in the order of the arguments, which is after the fields.
    pub series: Vec<SeriesFacts>,
    /// The parameters and their default values, in the order of the arguments.
    pub parameters: Vec<ParameterFacts>,
}

/// What is known of a choice among tilings.
#[derive(Debug, Clone, Serialize)]
pub struct ChoiceFacts {
    /// The tilings.
    pub tilings: Vec<Served>,
    /// What the choice looks at, in order.
    pub features: Vec<String>,
    /// The model's file.
    pub model: String,
    /// The processor that costs are of.
    pub machine: String,
    /// Whether costs were measured there; else they are predicted.
    pub measured: bool,
    /// Uses that it was trained on.
    pub uses: usize,
    /// What the choices are worth.
    pub worth: Worth,
}

impl ChoiceFacts {
    /// Those of a portfolio of the program of this name.
    pub fn new(portfolio: &Portfolio, name: &str) -> ChoiceFacts {
        ChoiceFacts {
            tilings: portfolio.tilings.clone(),
            features: portfolio.model.feature_names(),
            model: format!("{name}_choice.model.json"),
            machine: portfolio.machine.clone(),
            measured: portfolio.measured,
            uses: portfolio.uses,
            worth: portfolio.worth,
        }
    }
}

/// A function for other code to call.
#[derive(Debug, Clone, Serialize)]
pub struct EntryPoint {
    /// Its name for the linker.
    pub symbol: String,
    /// The header that declares it and says how it is called.
    pub header: String,
    /// What it does.
    pub description: &'static str,
}

impl EntryPoint {
    /// That which says what is chosen.
    pub(super) fn variant(name: &str) -> EntryPoint {
        EntryPoint {
            symbol: format!("{name}_variant"),
            header: format!("{name}.h"),
            description: "the number of the tiling that a call uses",
        }
    }

    /// All of a program; those around the tiled loops of a C program, too.
    pub(super) fn all(name: &str, target: Target, c: bool) -> Vec<EntryPoint> {
        let run: &[(&str, &str)] = match target {
            Target::OpenMp => &[
                ("_run", "computes time steps on dense arrays"),
                ("_run_strided", "computes time steps on arrays with padding"),
                ("_run_levels", "computes time steps on time levels that lie anywhere"),
                ("_invoke", "the same as _run_strided with arguments that are alike for all programs"),
                ("_invoke_levels", "the same as _run_levels with arguments that are alike for all programs"),
            ],
            Target::Cuda => &[
                ("_run_cuda", "queues time steps on dense arrays in device memory"),
                ("_run_cuda_strided", "queues time steps on arrays with padding"),
            ],
        };
        let glue: &[(&str, &str)] = &[
            ("_open", "makes the buffers of the rewritten program"),
            ("_compute", "computes their time steps"),
            ("_close", "frees them"),
        ];
        let point = |header: String| {
            move |&(ending, description): &(&str, &'static str)| EntryPoint {
                symbol: format!("{name}{ending}"),
                header: header.clone(),
                description,
            }
        };
        let of_glue = glue.iter().filter(|_| c).map(point(format!("{name}_glue.h")));
        run.iter().map(point(format!("{name}.h"))).chain(of_glue).collect()
    }
}

impl EntryPoint {
    /// Those of the library for ranks of MPI.
    pub(super) fn of_ranks(name: &str) -> Vec<EntryPoint> {
        let points: &[(&str, &str)] = &[
            ("_create", "makes a grid on the ranks of a communicator"),
            ("_scatter", "spreads a level of one rank"),
            ("_run", "computes time steps on all ranks"),
            ("_band", "computes the time steps of one exchange"),
            ("_gather", "brings a level to one rank"),
            ("_free", "frees the grid"),
        ];
        let point = |&(ending, description): &(&str, &'static str)| EntryPoint {
            symbol: format!("{name}_mpi{ending}"),
            header: format!("{name}_mpi.h"),
            description,
        };
        points.iter().map(point).collect()
    }
}

/// A loop of the host.
#[derive(Debug, Clone, Serialize)]
pub struct HostLoop {
    /// Loop variable.
    pub variable: &'static str,
    /// First value.
    pub low: String,
    /// Last value.
    pub high: String,
}

/// A kernel of the generated code.
#[derive(Debug, Clone, Serialize)]
pub struct KernelFacts {
    /// Its name in the plan.
    pub name: String,
    /// Its name in the CUDA text; null elsewhere.
    pub symbol: Option<String>,
    /// What it does.
    pub description: String,
    /// Dimensions of its grid of blocks.
    pub block_dimensions: usize,
    /// Rows that one block computes, each followed by a barrier, in one sub-tile; null where it varies.
    pub rows_per_sub_tile: Option<i64>,
    /// Bytes of shared memory of a block; null without shared memory.
    pub shared_bytes: Option<u64>,
    /// Threads of a block; null without thread blocks.
    pub threads: Option<u64>,
    /// What NVIDIA's compiler says of the kernel, per compute capability; empty where NVRTC is missing.
    pub compiled: Vec<CompiledFacts>,
}

/// A kernel compiled for one compute capability: the compiler's own figures.
#[derive(Debug, Clone, Serialize)]
pub struct CompiledFacts {
    /// `sm_80`
    pub architecture: String,
    /// Version of NVRTC.
    pub compiler: String,
    /// Registers per thread.
    pub registers: u32,
    /// Bytes per thread that were spilled and loaded back.
    pub spill_bytes: u64,
    /// Bytes of local memory per thread.
    pub local_bytes: u64,
    /// Threads of a block that the registers allow.
    pub max_threads: u32,
}

/// A field of the generated code.
#[derive(Debug, Clone, Serialize)]
pub struct FieldFacts {
    /// Name.
    pub name: String,
    /// Element type.
    pub dtype: &'static str,
    /// `state`, `coefficient`, or `witness`: two numbers for each time step, of a C program that tests something in each.
    pub role: &'static str,
    /// Initial time levels that the caller gives.
    pub levels: usize,
    /// Time levels that are stored.
    pub slots: usize,
    /// Further levels that the code takes memory of the device for while it runs; none where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spare_slots: Option<usize>,
}

/// A series of the generated code.
#[derive(Debug, Clone, Serialize)]
pub struct SeriesFacts {
    /// Name.
    pub name: String,
    /// Element type.
    pub dtype: &'static str,
    /// The time of its first element.
    pub first: i64,
    /// How many more elements than time steps it has.
    pub reach: i64,
}

/// A parameter of the generated code.
#[derive(Debug, Clone, Serialize)]
pub struct ParameterFacts {
    /// Name.
    pub name: String,
    /// Usual value.
    pub default: f64,
}
