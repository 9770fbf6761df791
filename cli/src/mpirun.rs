//! What `mpirun` and `srun` tell a process of itself and the others that they started.

/// Variables with the number of processes, and this one's. Those of Slurm come last: within an allocation `mpirun` starts its own helpers by
/// `srun`, and who is started by `srun` with PMIx has no others.
const COUNTS: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];
const RANKS: [&str; 3] = ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"];

/// How many processes there are, as far as it says.
pub fn count() -> usize {
    said(COUNTS).unwrap_or(1).max(1)
}

/// Which one this is, from 0 on.
pub fn rank() -> usize {
    said(RANKS).unwrap_or(0)
}

fn said(names: [&str; 3]) -> Option<usize> {
    names.into_iter().find_map(|name| std::env::var(name).ok()?.parse().ok())
}
