//! Statistics against R 4.2 (`lm`, `anova`, `predict`, profile likelihoods from `qr.resid`) and its package AlgDesign
//! 1.2.1: values that were computed there and are stored here.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tuner::doe::fedorov::{DesignRequest, d_optimal};
use tuner::doe::{Anova, BoxCox, Fit, Formula, Model, model::Contrasts};
use tuner::{Parameter, Point, Space, Value};

#[track_caller]
fn close(ours: f64, theirs: f64) {
    assert!((ours - theirs).abs() <= 1e-8 * theirs.abs().max(1e-6), "{ours:e} is not {theirs:e}");
}

const X: [i64; 24] = [1, 2, 4, 8, 16, 32, 1, 2, 4, 8, 16, 32, 1, 2, 4, 8, 16, 32, 1, 2, 4, 8, 16, 32];
const U: [i64; 24] = [3, 1, 2, 2, 3, 1, 1, 2, 3, 3, 1, 2, 2, 3, 1, 1, 2, 3, 3, 2, 1, 2, 1, 3];
const K: &str = "abcbcacababcbcacabcabbca";
const Y: [f64; 24] = [
    2.31, 1.87, 3.02, 4.4, 9.17, 11.9, 1.2, 1.95, 2.61, 5.88, 6.21, 14.4, 1.71, 2.93, 1.66, 3.21, 9.75, 19.6,
    2.74, 2.2, 2.05, 3.97, 5.13, 21.3,
];

fn space() -> Space {
    let whole = |name: &str, levels: &[i64]| {
        Parameter::new(name, levels.iter().copied().map(Value::Integer).collect()).unwrap()
    };
    let kinds = ["a", "b", "c"].into_iter().map(Value::from).collect();
    let parameters =
        vec![whole("x", &[1, 2, 4, 8, 16, 32]), whole("u", &[1, 2, 3]), Parameter::new("k", kinds).unwrap()];
    Space::new(parameters, &[]).unwrap()
}

fn points(space: &Space) -> Vec<Point> {
    let rows = X.iter().zip(U).zip(K.chars());
    rows.map(|((&x, u), k)| {
        space.point(&[Value::Integer(x), Value::Integer(u), Value::Text(k.to_string())]).unwrap()
    })
    .collect()
}

fn fitted(formula: &str, contrasts: Contrasts) -> (Space, Model, Fit) {
    let space = space();
    let formula = Formula::parse(formula, &["x", "u", "k"]).unwrap();
    let model = Model::new(&formula, &space, contrasts).unwrap();
    let response: Vec<f64> = Y.iter().map(|y| y.ln()).collect();
    let fit = Fit::new(&model.matrix(&space, &points(&space)).unwrap(), &response).unwrap();
    (space, model, fit)
}

const FORMULA: &str = "~ x + I(1/x) + u + I(u^2) + k + x:k";

#[test]
fn least_squares() {
    // Estimate, standard error, t, p.
    let theirs = [
        (
            "(Intercept)",
            0.1239755958570584737,
            0.3584670516196358792,
            0.345849347372118199,
            7.3425882607133408e-01,
        ),
        ("x", 0.0614480108311297318, 0.0064556232401047622, 9.518524942625454344, 9.5261938354426692e-08),
        (
            "I(1/x)",
            -0.5296684951935988206,
            0.1650078523106320583,
            -3.209959330883735973,
            5.8434635500820937e-03,
        ),
        ("u", 0.5921864930179098208, 0.3661230359976102022, 1.617452153493491807, 1.2661180661766391e-01),
        (
            "I(u^2)",
            -0.0807521849073486592,
            0.0912713350832415338,
            -0.884748588740384201,
            3.9025432638273994e-01,
        ),
        ("kb", 0.0034653432745199173, 0.1395853181162249046, 0.024825986868006557, 9.8052102536611629e-01),
        ("kc", 0.1466914022874569179, 0.1446600463944711090, 1.014042273202695688, 3.2664098536397612e-01),
        (
            "x:kb",
            -0.0013734689257646449,
            0.0092627716267863827,
            -0.148278396694225212,
            8.8409800823371298e-01,
        ),
        (
            "x:kc",
            -0.0103367408326699821,
            0.0093763229231507914,
            -1.102430122916079558,
            2.8764912687459798e-01,
        ),
    ];
    let (space, model, fit) = fitted(FORMULA, Contrasts::Treatment);
    assert_eq!(model.width(), theirs.len());
    for (column, (name, estimate, error, t, p)) in theirs.into_iter().enumerate() {
        assert_eq!(model.names()[column], name);
        close(fit.coefficients[column].unwrap(), estimate);
        close(fit.standard_errors[column].unwrap(), error);
        let (our_t, our_p) = fit.t_test(column).unwrap();
        close(our_t, t);
        close(our_p, p);
    }
    assert_eq!(fit.residual_freedom, 15);
    close(fit.r_squared, 0.96393657374099839);
    close(fit.sigma(), 0.19442887259708616);
    let row = model.row(&space, &points(&space)[10]);
    let prediction = fit.prediction(&row, 0.95).unwrap();
    close(prediction.value, 1.566963636778381);
    close(prediction.lower, 1.0984454043663203);
    close(prediction.upper, 2.0354818691904417);
    let confidence = fit.confidence(&row, 0.9).unwrap();
    close(confidence.lower, 1.3872034042300307);
    close(confidence.upper, 1.7467238693267313);
}

#[test]
fn contrasts_that_sum_to_zero() {
    let theirs = [
        0.6787600499754141703,
        0.0703045616073011415,
        0.0387636967458391130,
        -0.0909318068389700640,
        -0.0018073306194123816,
        0.0070161979737602747,
    ];
    let (_, _, fit) = fitted("~ x + k + x:k", Contrasts::Sum);
    fit.coefficients.iter().zip(theirs).for_each(|(ours, theirs)| close(ours.unwrap(), theirs));
}

#[test]
fn analysis_of_variance() {
    // Degrees of freedom, sum of squares, F, p.
    let theirs = [
        (1, 13.7922847944353197391, 364.85029389890365792, 6.1370060176650620e-12),
        (1, 0.1588806844683794406, 4.20290512319866316, 5.8257046921787022e-02),
        (1, 1.1388093074458069953, 30.12516901362467436, 6.2368010570815798e-05),
        (1, 0.0088221262227452264, 0.23337361381056099, 6.3600872012623921e-01),
        (2, 0.0090375585839604332, 0.11953624633740473, 8.8816863092661158e-01),
        (2, 0.0485023590106477900, 0.64152169867333042, 5.4034058702768539e-01),
    ];
    let (_, model, fit) = fitted(FORMULA, Contrasts::Treatment);
    let anova = Anova::of(&model, &fit);
    assert_eq!((anova.rows.len(), anova.residual_freedom), (6, 15));
    close(anova.residual_sum, 0.5670387974906094808);
    for (row, (freedom, sum, f, p)) in anova.rows.iter().zip(theirs) {
        assert_eq!(row.freedom, freedom, "{}", row.name);
        close(row.sum, sum);
        close(row.f, f);
        close(row.p, p);
    }
}

#[test]
fn box_cox_by_profile_likelihood() {
    let space = space();
    let formula = Formula::parse("~ x + I(1/x) + u + k", &["x", "u", "k"]).unwrap();
    let model = Model::new(&formula, &space, Contrasts::Treatment).unwrap();
    let found = BoxCox::new(&model.matrix(&space, &points(&space)).unwrap(), &Y).unwrap();
    close(found.lambda, 0.27124393591983670);
    close(found.interval.0, 0.01471484376032770);
    close(found.interval.1, 0.48815784895638703);
    close(found.log_likelihood, 11.92612441365788811);
    assert_eq!(found.rounded, found.lambda);
}

/// Factors with their levels, text for categorical ones.
fn factors(levels: &[(&str, &[i64], bool)]) -> Space {
    let parameter = |(name, levels, numeric): &(&str, &[i64], bool)| {
        let value =
            |&level: &i64| if *numeric { Value::Integer(level) } else { Value::Text(format!("l{level}")) };
        Parameter::new(*name, levels.iter().map(value).collect()).unwrap()
    };
    Space::new(levels.iter().map(parameter).collect(), &[]).unwrap()
}

/// The best D of 5 times `optFederov(formula, candidates, nTrials, nRepeats = 20, maxIteration = 200)`.
#[test]
fn designs_are_at_least_as_good_as_those_of_algdesign() {
    let five: &[i64] = &[-2, -1, 0, 1, 2];
    let three: &[i64] = &[-1, 0, 1];
    let cube = factors(&[("a", five, true), ("b", five, true), ("c", five, true)]);
    let four = factors(&[("a", three, true), ("b", three, true), ("c", three, true), ("d", three, true)]);
    let mixed =
        factors(&[("a", &[1, 2, 3], false), ("b", &[1, 2, 3, 4], false), ("x", &[1, 2, 3, 4, 5], true)]);
    let gpu = factors(&[
        ("p", &[1, 2, 4, 8, 16, 32, 64], true),
        ("q", &[1, 2, 3, 4, 5, 6], true),
        ("r", &[0, 1], true),
    ]);
    let squares = "+ I(a^2) + I(b^2) + I(c^2)";
    let cases = [
        (&cube, format!("~ (a + b + c)^2 {squares}"), 14, 3.704357935297744),
        (&four, "~ (a + b + c + d)^2".to_owned(), 16, 1.0),
        (&four, format!("~ (a + b + c + d)^2 {squares} + I(d^2)"), 18, 0.45488987274803344),
        (&mixed, "~ a + b + x + I(x^2) + a:x".to_owned(), 15, 0.43148406347127682),
        (&gpu, "~ p + I(1/p) + q + I(1/q) + r".to_owned(), 8, 1.0941579527430954),
        (&gpu, "~ p + I(1/p) + I(p^2) + q + I(q^2) + r + p:q".to_owned(), 12, 24.349218577821571),
    ];
    for (space, formula, runs, theirs) in cases {
        let names: Vec<&str> = space.parameters().iter().map(Parameter::name).collect();
        let parsed = Formula::parse(&formula, &names).unwrap();
        let model = Model::new(&parsed, space, Contrasts::Treatment).unwrap();
        let matrix = model.matrix(space, space.points().unwrap()).unwrap();
        let request = DesignRequest { runs, starts: 100, ..DesignRequest::default() };
        let design = d_optimal(&matrix, &request, &mut ChaCha8Rng::seed_from_u64(1)).unwrap();
        assert!(
            design.d_efficiency >= theirs * (1.0 - 1e-9),
            "{formula}: {} < {theirs}",
            design.d_efficiency
        );
    }
}
