//! Programs on ranks of MPI, in a process that is built without MPI: a library that knows MPI is compiled by the user's
//! `mpicc` and loaded.
//!
//! The functions that are called have no types of MPI: `templates/openmp/world.c` and `templates/openmp/ranks_loaded.c.hbs`.
//! What is called is text that this workspace generated; arrays are as long as the library's own facts say.
#![allow(unsafe_code)]

use crate::error::{ExecutionError, Result};
use crate::grid::{ValuesMut, ValuesRef};
use hhc_codegen::KernelPlan;
use hhc_codegen::backend::openmp;
use std::ffi::{CString, c_char, c_double, c_int, c_longlong, c_void};
use std::path::Path;
use std::ptr::null_mut;
use toolchain::cache::Cache;
use toolchain::compiler::{CompileOptions, Compiler, Language, SharedObject, SourceText};
use toolchain::library::Library;

/// The code for MPI's own functions.
const WORLD: &str = include_str!("../templates/openmp/world.c");

type Start = unsafe extern "C" fn(*mut c_int, *mut c_int, *mut c_int, *mut c_int) -> c_int;
type Stop = unsafe extern "C" fn() -> c_int;
type Computer = unsafe extern "C" fn(*mut c_char, c_int) -> c_int;
type Processors = unsafe extern "C" fn(*mut c_int, *mut c_int, c_int) -> c_int;
type Reduced = unsafe extern "C" fn(c_int, c_int, c_int) -> c_int;
type Broadcast = unsafe extern "C" fn(*mut c_void, c_int, c_int) -> c_int;
type Together = unsafe extern "C" fn() -> c_int;
type Open =
    unsafe extern "C" fn(*const c_longlong, *const c_int, c_longlong, c_int, *mut *mut c_void) -> c_int;
type Free = unsafe extern "C" fn(*mut *mut c_void);
type AllFacts = unsafe extern "C" fn(*const c_void, *mut c_longlong, *mut c_double) -> c_int;
type Fit = unsafe extern "C" fn(*const c_longlong, c_int, *mut c_int) -> c_int;
type Put = unsafe extern "C" fn(*mut c_void, c_int, c_int, *const c_void) -> c_int;
type Series = unsafe extern "C" fn(*mut c_void, c_int, *const c_void, c_longlong) -> c_int;
type Gather = unsafe extern "C" fn(*mut c_void, c_int, c_int, c_int, *mut c_void) -> c_int;
type File = unsafe extern "C" fn(*mut c_void, c_int, c_int, *const c_char) -> c_int;
type Save = unsafe extern "C" fn(*mut c_void, *const c_char, u64) -> c_int;
type Restore = unsafe extern "C" fn(*mut c_void, *const c_char, *mut u64) -> c_int;
type Way = unsafe extern "C" fn(c_longlong, c_int, *mut c_double) -> c_int;
type Run = unsafe extern "C" fn(*mut c_void, c_longlong, *const c_double) -> c_int;

/// What the codes of `NAME_mpi.h` stand for.
pub fn meaning(code: i32) -> &'static str {
    match code {
        1 => "a rank has not enough memory",
        8 => "the ranks, or the depth of the ghost zones, do not fit the grid",
        9 => "MPI reported an error",
        10 => "MPI does not support threads (MPI_THREAD_FUNNELED)",
        11 => "a file cannot be read or written",
        12 => "the file is not a .npy file of the field's type and of the grid's shape, in C order",
        13 => "the file is no checkpoint, or is damaged",
        14 => "the checkpoint is of another program, or of a grid of another size",
        15 => "fields that are only read are others than those that the checkpoint was written with",
        _ => crate::native::meaning(code),
    }
}

fn failed(symbol: &str, code: i32) -> ExecutionError {
    ExecutionError::Native { symbol: symbol.to_owned(), code, meaning: meaning(code) }
}

fn checked(symbol: &str, code: i32) -> Result<()> {
    if code == 0 { Ok(()) } else { Err(failed(symbol, code)) }
}

/// All ranks of MPI, from [`World::start`] to [`World::stop`].
#[derive(Debug)]
pub struct World {
    library: Library,
    /// The number of this one.
    pub rank: usize,
    /// How many there are.
    pub count: usize,
    /// How many of them are on this computer.
    pub here: usize,
    /// The first one of these.
    pub first_here: usize,
}

/// Which ranks take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Among {
    /// All of them.
    All,
    /// Those of this computer.
    Here,
}

/// Processors of a computer that are asked for at most.
const MOST_PROCESSORS: usize = 1024;

impl World {
    /// Begins with MPI, once in a process.
    ///
    /// # Errors
    /// No compiler for MPI, or what MPI says.
    pub fn start() -> Result<World> {
        let options = CompileOptions { openmp: false, native: false, ..CompileOptions::default() };
        let sources = [SourceText::new("world.c", WORLD)];
        let object = Compiler::find(Language::Mpi).map_err(toolchain::Error::from)?.compile_shared(
            &sources,
            &options,
            &Cache::open()?,
        )?;
        let library = Library::load(&object.path())?;
        // Its threads may outlive the last call.
        library.keep();
        // SAFETY: the text above gives it this type.
        let start = unsafe { library.function::<Start>("tw_world_start") }?;
        let (mut rank, mut count, mut here, mut first) = (0, 1, 1, 0);
        // SAFETY: it writes four numbers.
        checked("MPI_Init_thread", unsafe { start(&mut rank, &mut count, &mut here, &mut first) })?;
        let [rank, count, here, first_here] =
            [rank, count, here, first].map(|number| usize::try_from(number).unwrap_or(0));
        Ok(World { library, rank, count, here, first_here })
    }

    /// Of each processor of this computer, whether this rank may use it, and how many ranks here may; none where the system does not
    /// say. All ranks of the computer call it.
    ///
    /// # Errors
    /// What MPI says.
    pub fn processors(&self) -> Result<Vec<(bool, usize)>> {
        let (mut own, mut users) = (vec![0; MOST_PROCESSORS], vec![0; MOST_PROCESSORS]);
        // SAFETY: the text gives it this type; it writes so many numbers into each.
        let code = unsafe {
            let processors = self.library.function::<Processors>("tw_world_processors")?;
            processors(own.as_mut_ptr(), users.as_mut_ptr(), MOST_PROCESSORS as c_int)
        };
        checked("MPI_Allreduce", code)?;
        let users = users.into_iter().map(|count| usize::try_from(count).unwrap_or(0));
        Ok(own.into_iter().map(|may| may != 0).zip(users).filter(|(_, users)| *users > 0).collect())
    }

    fn reduced(&self, number: i32, sums: bool, among: Among) -> Result<i32> {
        // SAFETY: the text gives it this type; it takes any number.
        let reduced = unsafe {
            let reduce = self.library.function::<Reduced>("tw_world_reduced")?;
            reduce(number, c_int::from(sums), c_int::from(among == Among::Here))
        };
        if reduced < number { Err(failed("MPI_Allreduce", 9)) } else { Ok(reduced) }
    }

    /// The greatest of the ranks' numbers, none of which is negative; all of these ranks call it.
    ///
    /// # Errors
    /// What MPI says.
    pub fn greatest(&self, number: i32, among: Among) -> Result<i32> {
        self.reduced(number, false, among)
    }

    /// The sum of such numbers.
    ///
    /// # Errors
    /// What MPI says, and a sum that is too large.
    pub fn sum(&self, number: i32, among: Among) -> Result<i32> {
        self.reduced(number, true, among)
    }

    /// The text of the first of the ranks, on all of them.
    ///
    /// # Errors
    /// What MPI says.
    pub fn broadcast(&self, text: &str, among: Among) -> Result<String> {
        let first = if among == Among::All { 0 } else { self.first_here };
        let mut bytes = text.as_bytes().to_vec();
        let length = self.greatest(if self.rank == first { bytes.len() as i32 } else { 0 }, among)?;
        bytes.resize(length.max(0) as usize, b' ');
        // SAFETY: the text gives it this type; there are as many bytes.
        let code = unsafe {
            let broadcast = self.library.function::<Broadcast>("tw_world_broadcast")?;
            broadcast(bytes.as_mut_ptr().cast(), length, c_int::from(among == Among::Here))
        };
        checked("MPI_Bcast", code)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Waits for the ranks of this computer, which all call it at about the same time.
    ///
    /// # Errors
    /// What MPI says.
    pub fn together(&self) -> Result<()> {
        // SAFETY: the text gives it this type.
        checked("MPI_Barrier", unsafe { self.library.function::<Together>("tw_world_together")?() })
    }

    /// Seconds of one way of a message of so many bytes between the first rank and the last one, the least of several
    /// rounds; 0 on ranks between them. All ranks call it.
    ///
    /// # Errors
    /// A single rank, no memory, or what MPI says.
    pub fn way(&self, bytes: i32, rounds: i32) -> Result<f64> {
        let mut seconds = 0.0;
        // SAFETY: the text gives it this type; it writes one number.
        let code = unsafe {
            self.library.function::<Way>("tw_world_way")?(c_longlong::from(bytes), rounds, &mut seconds)
        };
        checked("MPI_Send", code)?;
        Ok(seconds)
    }

    /// The name of this computer.
    ///
    /// # Errors
    /// What MPI says.
    pub fn computer(&self) -> Result<String> {
        let mut name = [0_u8; 256];
        // SAFETY: the text gives it this type; it writes at most so many bytes, the last of them a zero.
        let code = unsafe {
            let computer = self.library.function::<Computer>("tw_world_computer")?;
            computer(name.as_mut_ptr().cast(), name.len() as c_int)
        };
        checked("MPI_Get_processor_name", code)?;
        let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
        Ok(String::from_utf8_lossy(name).into_owned())
    }

    /// Ends with MPI; all ranks call it.
    ///
    /// # Errors
    /// What MPI says.
    pub fn stop(self) -> Result<()> {
        // SAFETY: the text gives it this type; no function of MPI is called afterwards.
        checked("MPI_Finalize", unsafe { self.library.function::<Stop>("tw_world_stop")?() })
    }
}

/// A plan's library for ranks, loaded.
#[derive(Debug)]
pub struct RanksProgram {
    library: Library,
    name: String,
    dimension: usize,
    /// The shared object, with the compiler's command line and notes.
    pub object: SharedObject,
}

impl RanksProgram {
    /// Generates, compiles and loads it.
    ///
    /// # Errors
    /// A program that cannot be spread over ranks, and those of the compiler.
    pub fn load(plan: &KernelPlan) -> Result<RanksProgram> {
        let generate = |error: hhc_codegen::PlanError| ExecutionError::Generate(error.to_string());
        let files = openmp::ranks_library(plan).map_err(generate)?.into_iter();
        let sources: Vec<SourceText> = files.map(|file| SourceText::new(file.name, file.text)).collect();
        let compiler = Compiler::find(Language::Mpi).map_err(toolchain::Error::from)?;
        let object = compiler.compile_shared(&sources, &CompileOptions::default(), &Cache::open()?)?;
        let library = Library::load(&object.path())?;
        library.keep();
        let program = &plan.program;
        Ok(RanksProgram { library, name: program.name.clone(), dimension: program.dimension(), object })
    }

    /// The library, for its threads.
    pub fn library(&self) -> &Library {
        &self.library
    }

    fn symbol(&self, ending: &str) -> String {
        format!("{}_mpi_{ending}", self.name)
    }

    /// Ranks per dimension for so many in all; `None` where none fit.
    ///
    /// # Errors
    /// A library that is another one.
    pub fn fit(&self, size: &[i64], count: usize) -> Result<Option<Vec<i64>>> {
        let mut ranks = vec![0; self.dimension];
        // SAFETY: the header gives it this type; both arrays have as many elements as there are dimensions.
        let code = unsafe {
            self.library.function::<Fit>(&self.symbol("fit"))?(
                size.as_ptr(),
                count as c_int,
                ranks.as_mut_ptr(),
            )
        };
        Ok((code == 0).then(|| ranks.into_iter().map(i64::from).collect()))
    }

    /// A grid on all ranks; `ranks` and `depth` are chosen where they are not given.
    ///
    /// # Errors
    /// [`ExecutionError::Native`], on all ranks the same.
    pub fn open(
        &self,
        size: &[i64],
        ranks: Option<&[i64]>,
        depth: i64,
        blocking: bool,
    ) -> Result<RanksGrid<'_>> {
        let ranks: Vec<c_int> = match ranks {
            Some(ranks) => ranks.iter().map(|&count| c_int::try_from(count).unwrap_or(c_int::MAX)).collect(),
            None => vec![0; self.dimension],
        };
        let mut grid = null_mut();
        let symbol = self.symbol("open");
        // SAFETY: the text gives it this type; both arrays have as many elements as there are dimensions.
        let code = unsafe {
            let open = self.library.function::<Open>(&symbol)?;
            open(size.as_ptr(), ranks.as_ptr(), depth, c_int::from(blocking), &mut grid)
        };
        checked(&symbol, code)?;
        Ok(RanksGrid { program: self, grid })
    }
}

/// A grid on all ranks. All of them call the same functions.
#[derive(Debug)]
pub struct RanksGrid<'a> {
    program: &'a RanksProgram,
    grid: *mut c_void,
}

/// What one rank did.
#[derive(Debug, Clone, PartialEq)]
pub struct RankFacts {
    /// Whether it computes while messages are under way.
    pub overlapped: bool,
    /// Steps of a band.
    pub depth: i64,
    /// Bytes of its arrays.
    pub memory: u64,
    /// Steps since the grid was made, those before a checkpoint included.
    pub time: i64,
    /// Exchanges.
    pub bands: u64,
    /// Messages that it sent.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Ranks per dimension.
    pub ranks: Vec<i64>,
    /// Its box, half-open per dimension.
    pub own: Vec<(i64, i64)>,
    /// Seconds of all of it.
    pub seconds: f64,
    /// Seconds of computing.
    pub compute_seconds: f64,
    /// Seconds of packing, waiting and unpacking.
    pub exchange_seconds: f64,
}

impl RanksGrid<'_> {
    fn library(&self) -> &Library {
        &self.program.library
    }

    /// Sets a level of the own box.
    ///
    /// # Errors
    /// [`ExecutionError::Native`].
    pub fn put(&mut self, field: usize, level: i64, values: ValuesRef<'_>) -> Result<()> {
        let symbol = self.program.symbol("put");
        // SAFETY: the header gives it this type; the caller's values are those of the own box.
        let code = unsafe {
            self.library().function::<Put>(&symbol)?(
                self.grid,
                field as c_int,
                level as c_int,
                pointer(values),
            )
        };
        checked(&symbol, code)
    }

    /// Sets a series.
    ///
    /// # Errors
    /// [`ExecutionError::Native`].
    pub fn series(&mut self, series: usize, values: ValuesRef<'_>) -> Result<()> {
        let symbol = self.program.symbol("series");
        // SAFETY: the header gives it this type; it reads so many values.
        let code = unsafe {
            let set = self.library().function::<Series>(&symbol)?;
            set(self.grid, series as c_int, pointer(values), values.len() as c_longlong)
        };
        checked(&symbol, code)
    }

    /// Brings a level to the first rank, which alone has room for it: the whole grid, dense.
    ///
    /// # Errors
    /// [`ExecutionError::Native`].
    pub fn gather(&self, field: usize, values: Option<ValuesMut<'_>>) -> Result<()> {
        let symbol = self.program.symbol("gather");
        let place = match values {
            Some(ValuesMut::F32(values)) => values.as_mut_ptr().cast(),
            Some(ValuesMut::F64(values)) => values.as_mut_ptr().cast(),
            None => null_mut(),
        };
        // SAFETY: the header gives it this type; the first rank's values are a whole level.
        let code =
            unsafe { self.library().function::<Gather>(&symbol)?(self.grid, field as c_int, 0, 0, place) };
        checked(&symbol, code)
    }

    /// Reads a level from a file, or writes it.
    ///
    /// # Errors
    /// [`ExecutionError::Npy`] with what is wrong with the file.
    pub fn file(&mut self, field: usize, level: i64, path: &Path, writes: bool) -> Result<()> {
        let symbol = self.program.symbol(if writes { "write" } else { "read" });
        let problem =
            |problem: &str| ExecutionError::Npy { path: path.to_owned(), problem: problem.to_owned() };
        let name = file_name(path).ok_or_else(|| problem(NO_NAME))?;
        // SAFETY: the header gives it this type; the name ends with a zero.
        let code = unsafe {
            let file = self.library().function::<File>(&symbol)?;
            file(self.grid, field as c_int, level as c_int, name.as_ptr())
        };
        if code == 0 { Ok(()) } else { Err(problem(meaning(code))) }
    }

    /// Writes a checkpoint with a number of the caller's; the file is whole at any time.
    ///
    /// # Errors
    /// [`ExecutionError::File`].
    pub fn save(&mut self, path: &Path, mark: u64) -> Result<()> {
        let name = file_name(path).ok_or_else(|| checkpoint(path, NO_NAME))?;
        // SAFETY: the header gives it this type; the name ends with a zero.
        let code = unsafe {
            self.library().function::<Save>(&self.program.symbol("save"))?(self.grid, name.as_ptr(), mark)
        };
        let source = || std::io::Error::other(meaning(code));
        if code == 0 {
            Ok(())
        } else {
            Err(ExecutionError::File { action: "write", path: path.to_owned(), source: source() })
        }
    }

    /// Reads a checkpoint, whose read-only fields the grid has already; returns the number of the caller's.
    ///
    /// # Errors
    /// [`ExecutionError::Checkpoint`].
    pub fn restore(&mut self, path: &Path) -> Result<u64> {
        let name = file_name(path).ok_or_else(|| checkpoint(path, NO_NAME))?;
        let mut mark = 0;
        // SAFETY: the header gives it this type; the name ends with a zero.
        let code = unsafe {
            let restore = self.library().function::<Restore>(&self.program.symbol("restore"))?;
            restore(self.grid, name.as_ptr(), &mut mark)
        };
        if code == 0 { Ok(mark) } else { Err(checkpoint(path, meaning(code))) }
    }

    /// Time steps.
    ///
    /// # Errors
    /// [`ExecutionError::Native`].
    pub fn run(&mut self, steps: i64, parameters: &[f64]) -> Result<()> {
        let symbol = self.program.symbol("run");
        // SAFETY: the header gives it this type; there is a value for each parameter.
        let code = unsafe { self.library().function::<Run>(&symbol)?(self.grid, steps, parameters.as_ptr()) };
        checked(&symbol, code)
    }

    /// What all ranks did, of which there are `count`.
    ///
    /// # Errors
    /// [`ExecutionError::Native`].
    pub fn facts(&self, count: usize) -> Result<Vec<RankFacts>> {
        let symbol = self.program.symbol("all_facts");
        let each = 7 + 3 * self.program.dimension;
        let (mut counts, mut seconds) = (vec![0; count * each], vec![0.0; count * 3]);
        // SAFETY: the text gives it this type, and writes so many numbers for each rank.
        let code = unsafe {
            self.library().function::<AllFacts>(&symbol)?(
                self.grid,
                counts.as_mut_ptr(),
                seconds.as_mut_ptr(),
            )
        };
        checked(&symbol, code)?;
        let facts = counts.chunks_exact(each).zip(seconds.chunks_exact(3)).map(|(counts, seconds)| {
            let boxes = counts[7..].chunks_exact(3);
            RankFacts {
                overlapped: counts[0] != 0,
                depth: counts[1],
                memory: counts[2] as u64,
                bands: counts[3] as u64,
                messages: counts[4] as u64,
                bytes: counts[5] as u64,
                time: counts[6],
                ranks: boxes.clone().map(|of| of[0]).collect(),
                own: boxes.map(|of| (of[1], of[2])).collect(),
                seconds: seconds[0],
                compute_seconds: seconds[1],
                exchange_seconds: seconds[2],
            }
        });
        Ok(facts.collect())
    }
}

impl Drop for RanksGrid<'_> {
    fn drop(&mut self) {
        // SAFETY: the header gives it this type; the grid is not used again.
        if let Ok(free) = unsafe { self.library().function::<Free>(&self.program.symbol("free")) } {
            unsafe { free(&mut self.grid) };
        }
    }
}

/// What is wrong with a file that MPI cannot be told of.
const NO_NAME: &str = "MPI takes no such name";

fn file_name(path: &Path) -> Option<CString> {
    path.to_str().and_then(|path| CString::new(path).ok())
}

fn checkpoint(path: &Path, problem: &str) -> ExecutionError {
    ExecutionError::Checkpoint { path: path.to_owned(), problem: problem.to_owned() }
}

fn pointer(values: ValuesRef<'_>) -> *const c_void {
    match values {
        ValuesRef::F32(values) => values.as_ptr().cast(),
        ValuesRef::F64(values) => values.as_ptr().cast(),
    }
}
