//! Tiles that are chosen for GPUs keep everything in registers, by the figures of NVIDIA's compiler.

#![allow(clippy::unwrap_used)]

use hhc_codegen::backend::cuda::{CudaOptions, generate};
use hhc_codegen::strategy::Target;
use polyhedral::program::ElementType;
use std::sync::Arc;
use tilewright::choice::{Wish, choose};
use tilewright::{Silent, Stencil, Tiling, machines};
use toolchain::cache::Cache;
use toolchain::nvrtc::Nvrtc;

/// Architectures of a machine; of all that code is written for where none is named.
const MACHINES: [(Option<&str>, &[u32]); 4] =
    [(Some("v100"), &[70]), (Some("a100"), &[80]), (Some("h100"), &[90]), (None, &[70, 80, 90])];

/// Programs of users: many fields, statements that need each other, far and many reads, in one to three dimensions.
const OF_USERS: [&str; 6] = [
    include_str!("elastic3d.stencil"),
    include_str!("lbm2d.stencil"),
    include_str!("seven3d.stencil"),
    include_str!("six1d.stencil"),
    include_str!("star2d8r.stencil"),
    include_str!("star3d4r.stencil"),
];

/// No tile that is chosen where none is given keeps values of threads in memory. A program whose tile that the model likes best does;
/// with `TILEWRIGHT_ALL=1`, as in `make test-long`, all shipped ones and some of users, in both types, for all machines, by the strategy
/// that is preferred and by whichever is chosen.
#[test]
fn chosen_tiles_do_not_spill() {
    if let Some(error) = [70, 80, 90].into_iter().find_map(|own| Nvrtc::for_architecture(own).err()) {
        println!("SKIPPED: {error}");
        return;
    }
    let all = std::env::var_os("TILEWRIGHT_ALL").is_some();
    let shipped =
        polyhedral::shipped::names().into_iter().map(|name| polyhedral::shipped::load(name).unwrap());
    let of_users = OF_USERS.iter().map(|text| polyhedral::parse("own.stencil", text).unwrap());
    let mut spilling = Vec::new();
    for program in shipped.chain(of_users) {
        for element in [ElementType::F32, ElementType::F64] {
            let stencil = Stencil::of(Arc::new(program.clone().with_element_type(element)));
            for (machine, architectures) in MACHINES {
                for strategy in ["auto", "hhc"] {
                    let sample = ("gradient2d", ElementType::F32, Some("a100"), "hhc");
                    if !all && (program.name.as_str(), element, machine, strategy) != sample {
                        continue;
                    }
                    let what = format!(
                        "{} {} {} {strategy}",
                        program.name,
                        element.name(),
                        machine.unwrap_or("any GPU")
                    );
                    match most_spilled(&stencil, strategy, machine, architectures) {
                        Ok((tile, 0, _)) => println!("{what}: {tile}"),
                        // Who asks for a strategy all of whose tiles spill gets the one that does least, and hears of it.
                        Ok((tile, _, true)) if strategy != "auto" => {
                            println!("{what}: {tile} spills, as said")
                        }
                        Ok((tile, bytes, _)) => spilling.push(format!("{what}: {tile} spills {bytes} bytes")),
                        // Rows in order are for cores.
                        Err(error) => {
                            assert!(program.sweeps_in_order().next().is_some(), "{what}: {error}");
                        }
                    }
                }
            }
        }
    }
    assert!(spilling.is_empty(), "{}", spilling.join("\n"));
}

/// The tile that is chosen, the bytes that a thread of its code keeps in memory, the most of some architectures, and whether notes say so.
fn most_spilled(
    stencil: &Stencil,
    strategy: &str,
    machine: Option<&str>,
    architectures: &[u32],
) -> tilewright::Result<(String, u64, bool)> {
    let machine = machine.map(|name| machines::machine(name).unwrap());
    let size = [&[1 << 26][..], &[16384, 16384], &[512, 512, 512]][stencil.program.dimension() - 1];
    let wish = Wish { machine_code: true, ..Wish::of_model(Some(size), Some(240), machine.as_ref()) };
    let tiling = Tiling { strategy: strategy.to_owned(), tile: None };
    let chosen = choose(stencil, &tiling, Target::Cuda, &wish, &Silent)?;
    let plan = tilewright::plan(stencil, &chosen.tiling, Target::Cuda, &Silent)?.plan;
    let text = generate(&plan, &CudaOptions { limits: chosen.limits })?.device_source;
    // What was compiled in order to choose is in the cache.
    let name = format!("{}.cu", stencil.program.name);
    let compiled = Nvrtc::compile_for_each(architectures, &text, &name, &Cache::open()?)?;
    let kernels = compiled.iter().flat_map(|(_, _, compiled)| &compiled.kernels);
    let most = kernels.map(|own| own.spill_bytes + own.local_bytes).max();
    let said = chosen.passed_over.iter().any(|note| note.contains("is taken all the same"));
    Ok((format!("{} {}", plan.strategy, plan.tile), most.unwrap_or(0), said))
}
