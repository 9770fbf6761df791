//! Expression sequences, schedules and policies, with the dissertation's figures.

use crate::support::parsed;
use nested::analysis::choice::choose;
use nested::analysis::policy::{cuda_points, implementations, inferred};
use nested::analysis::schedule::{self, Platform, lattice, strongest, valid};
use nested::analysis::{Computation, sequence};
use nested::emit::generated::prepared;
use nested::openmp::generate;
use nested::shipped;
use std::collections::BTreeSet;

fn computations(name: &str) -> Vec<Computation> {
    prepared(&parsed(shipped::text(name).unwrap())).1
}

fn of(name: &str, computation: &str) -> Computation {
    computations(name).into_iter().find(|own| own.name == computation).unwrap()
}

#[test]
fn core_computations_are_those_of_table_5_6() {
    let text = |name, computation| sequence::text(&of(name, computation).sequence);
    assert_eq!(text("reduction", "partials"), "map > reduce");
    assert_eq!(text("scan", "sums"), "map > reduce");
    assert_eq!(text("scan", "y"), "map > scan");
    assert_eq!(text("spmv", "y"), "map > reduce");
    assert_eq!(text("kmeans", "sums"), "reduce_by_key > map");
    assert_eq!(text("kmeans", "halves"), "map > reduce");
    // Listing 5.6 has tiles of boxes; here boxes, atoms, neighbour boxes, and their atoms.
    assert_eq!(text("comd_direct", "density"), "map > map > reduce > reduce");
    assert_eq!(text("comd_redistributed", "density"), "map > reduce");
}

#[test]
fn spmv_has_the_lattice_of_figure_5_2_and_the_parameters_of_table_5_5() {
    let own = of("spmv", "y");
    let texts: Vec<String> =
        lattice(&strongest(&own.sequence)).iter().map(|own| schedule::text(own)).collect();
    let figure = [
        "independent>cooperative",
        "sequential>cooperative",
        "independent>sequential",
        "sequential>sequential",
    ];
    assert_eq!(texts, figure);
    let names = |schedule: &str, platform| {
        let elements = schedule::parse(schedule).unwrap();
        let names = inferred(&own.sequence, &elements, platform);
        // Table 5.5 omits execution_resource, which Table 5.4 has.
        let names: BTreeSet<String> =
            names.into_iter().filter(|name| !name.starts_with("execution_resource")).collect();
        names
    };
    let table = [
        (
            figure[0],
            "block_size_x block_size_y logical_warp_size grain_size_1 block_reduce_algo_2",
            "num_threads enable_nesting omp_schedule_1 chunk_size_1 omp_schedule_2 chunk_size_2",
        ),
        (
            figure[2],
            "block_size_x block_size_y logical_warp_size grain_size_1 enable_unroll_2",
            "num_threads enable_nesting omp_schedule_1 chunk_size_1 enable_unroll_2",
        ),
        (
            figure[1],
            "block_size_x block_size_y logical_warp_size block_reduce_algo_2 enable_unroll_1",
            "num_threads enable_nesting omp_schedule_2 chunk_size_2 enable_unroll_1",
        ),
        (
            figure[3],
            "block_size_x block_size_y logical_warp_size enable_unroll_1 enable_unroll_2",
            "enable_unroll_1 num_threads enable_nesting enable_unroll_2",
        ),
    ];
    for (schedule, cuda, openmp) in table {
        let set = |text: &str| text.split(' ').map(str::to_owned).collect::<BTreeSet<_>>();
        assert_eq!(names(schedule, Platform::Cuda), set(cuda), "{schedule}");
        assert_eq!(names(schedule, Platform::OpenMp), set(openmp), "{schedule}");
    }
}

#[test]
fn spaces_are_no_smaller_than_those_of_table_5_7() {
    let table = [
        ("reduction", 42, 36),
        ("scan", 90, 72),
        ("spmv", 42, 36),
        ("kmeans", 40, 12),
        ("comd_direct", 48, 60),
    ];
    for (name, gpu, cpu) in table {
        let program = parsed(shipped::text(name).unwrap());
        let (_, list, _) = prepared(&program);
        let real = || list.iter().enumerate().filter(|(_, own)| !own.sequence.is_empty());
        let cuda: usize = real().map(|(_, own)| cuda_points(&own.sequence).1).sum();
        let points: usize = real().map(|(_, own)| implementations(own).len()).sum();
        assert!(cuda >= gpu && points >= cpu, "{name}: {cuda} {points}");
    }
    // Different implementations are different texts.
    let program = parsed(shipped::text("spmv").unwrap());
    let points = implementations(&of("spmv", "y"));
    let texts: BTreeSet<String> = points
        .iter()
        .map(|point| generate(&program, std::slice::from_ref(point), Default::default(), "spmv").text)
        .collect();
    assert!(texts.len() >= 36 && texts.len() * 10 >= points.len() * 9, "{} of {}", texts.len(), points.len());
}

#[test]
fn platforms_weaken_what_they_cannot_run() {
    let deep = of("comd_direct", "density").sequence;
    assert_eq!(lattice(&strongest(&deep)).len(), 16);
    let cuda = valid(&strongest(&deep), Platform::Cuda);
    assert_eq!(cuda.len(), 4);
    assert!(cuda.iter().all(|own| own[2..].iter().all(|element| !element.is_parallel())));
    let openmp = valid(&strongest(&deep), Platform::OpenMp);
    assert_eq!(openmp.len(), 1 + 4 + 6);
}

#[test]
fn choices_by_hand_are_taken_or_refused_with_the_rule() {
    let own = of("spmv", "y");
    let policy =
        choose(&own, Some("independent>sequential"), Some("omp_schedule_1=dynamic,chunk_size_1=16")).unwrap();
    assert_eq!(
        policy.policy(),
        "execution_resource_1=threads,omp_schedule_1=dynamic,chunk_size_1=16,enable_unroll_2=false"
    );
    let cases = [
        (Some("independent"), None, "has 1 elements"),
        (Some("cooperative>cooperative"), None, "independent -> sequential"),
        (Some("fast>slow"), None, "is no schedule"),
        (None, Some("enable_unroll_1=true"), "belongs to a sequential element"),
        (Some("sequential>sequential"), Some("chunk_size_1=4"), "belongs to a parallel element"),
        (None, Some("chunk_size_7=4"), "is no parameter"),
        (None, Some("execution_resource_1=simd,execution_resource_2=threads"), "lanes have no teams"),
        (None, Some("tile=64"), "a map over tiles"),
        (None, Some("omp_schedule_2=merge"), "belongs to threads"),
        (None, Some("nonsense"), "is written"),
    ];
    for (schedule, policy, expected) in cases {
        let rule = choose(&own, schedule, policy).unwrap_err();
        assert!(rule.contains(expected), "{schedule:?} {policy:?}: {rule}");
    }
    let deep = of("comd_direct", "density");
    let rule = choose(&deep, Some("independent>independent>cooperative>sequential"), None).unwrap_err();
    assert!(rule.contains("2 levels in parallel"), "{rule}");
}

/// Fusion: what is stored, and what kernels move.
#[test]
fn nothing_is_stored_that_is_read_once_by_the_side() {
    let moved = |text: &str| {
        let generated = generate(&parsed(text), &[], Default::default(), "p");
        let kernels = generated.traffic.into_iter().map(|own| (own.reads.join(" "), own.writes.join(" ")));
        (kernels.collect::<Vec<_>>(), generated.temporaries, generated.fused)
    };
    let kernel = |reads: &str, writes: &str| (reads.to_owned(), writes.to_owned());
    // Within a computation.
    let fused = moved(
        "nested p { input x: [f64]; input k: [i32];
        output y = reduce(+, map(|(a, i)| a * f64(i), zip(gather(x, k), range(0, len(k)))), 0.0); }",
    );
    assert_eq!(fused, (vec![kernel("x k", "y")], vec![], vec![]));
    // Across computations.
    let fused = moved(
        "nested p { input x: [f64];
        compute t = map(|a| a * a, x); compute u = reverse(t); output y = scan(+, u, 0.0); }",
    );
    assert_eq!(fused, (vec![kernel("x", "y")], vec![], vec!["t".to_owned(), "u".to_owned()]));
    // What two read is stored, and two reductions over one sequence are one loop.
    let fused = moved(
        "nested p { input x: [f64];
        compute t = map(|a| a * a, x); output y = reduce(+, t, 0.0); output z = reduce(max, t); }",
    );
    assert_eq!(fused, (vec![kernel("x", "t"), kernel("t", "y z")], vec!["t".to_owned()], vec![]));
    // The dissertation's SpMV has no temporary.
    let (_, temporaries, _) = moved(shipped::text("spmv").unwrap());
    assert!(temporaries.is_empty());
}
