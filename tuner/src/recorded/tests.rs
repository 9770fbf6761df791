use super::*;
use proptest::prelude::*;
use trials::Value;

fn read(text: &str) -> Result<Recorded> {
    Recorded::from_bytes(Path::new("file"), text.as_bytes(), &ReadOptions::default())
}

const CACHE: &str = r#"{
"device_name": "GPU", "kernel_name": "k", "problem_size": [4096, 4096],
"tune_params_keys": ["x", "kind"], "tune_params": {"x": [1, 2, 4], "kind": ["a", "b"]},
"cache": {
"1,a": {"x": 1, "kind": "a", "time": 2.5, "times": [2.0, 3.0], "GFLOP/s": 7, "timestamp": "now"},
"2,b": {"x": 2, "kind": "b", "time": "CompilationFailedConfig"},
"4,b": {"x": 4, "kind": "b", "time": 1.5}"#;

#[test]
fn caches_of_kernel_tuner() {
    // Whole, and as an interrupted run leaves it.
    for end in ["}}", ",", ""] {
        let recorded = read(&format!("{CACHE}{end}")).unwrap();
        assert_eq!((recorded.format, recorded.response.as_str()), (Format::KernelTuner, "time"));
        assert_eq!((recorded.kernel.as_str(), recorded.device.as_str()), ("k", "GPU"));
        assert_eq!(recorded.trials.len(), 3);
        let first = &recorded.trials[0];
        assert_eq!(first.response("time"), Some(2.5));
        assert_eq!(first.metrics["time"].repetitions, [2.0, 3.0]);
        assert_eq!((first.metrics["GFLOP/s"].value, first.when.as_str()), (7.0, "now"));
        assert_eq!(recorded.trials[1].status, Status::CompileError);
        assert_eq!(recorded.trials[1].response("time"), None);
        assert_eq!(recorded.space.values(&recorded.trials[2].point), [Value::Integer(4), Value::from("b")]);
    }
}

#[test]
fn t4_and_t1() {
    let recorded = read(
        r#"{"metadata": {"timeunit": "seconds"}, "results": [
        {"configuration": {"x": 1}, "times": {"compilation": 3, "runtimes": [1, 2]}, "invalidity": "correct",
         "measurements": [{"name": "time", "value": 1.5, "unit": ""}], "objectives": ["time"]},
        {"configuration": {"x": 2}, "invalidity": "timeout", "measurements": []}]}"#,
    )
    .unwrap();
    let time = &recorded.trials[0].metrics["time"];
    assert_eq!((time.value, time.repetitions.as_slice(), time.unit.as_str()), (1.5, &[1.0, 2.0][..], "s"));
    assert_eq!(recorded.trials[1].status, Status::Timeout);
    let problem = read(
        r#"{"General": {"BenchmarkName": "p"}, "ConfigurationSpace": {"TuningParameters": [
        {"Name": "x", "Type": "int", "Values": "[1] + [2 * i for i in range(1, 4)]", "Default": 1},
        {"Name": "y", "Type": "bool", "Values": [0, 1]}],
        "Conditions": [{"Expression": "y == 0 or x % 4 == 0", "Parameters": ["x", "y"]}]}}"#,
    )
    .unwrap();
    assert_eq!(problem.space.points().unwrap().len(), 5);
    assert_eq!((problem.format, problem.kernel.as_str()), (Format::T1, "p"));
}

#[test]
fn csv_columns() {
    let recorded = read("x,flag,time_per_pixel\n1,true,1e-9\n1,false,\n4,true,2e-9\n").unwrap();
    assert_eq!(recorded.response, "time_per_pixel");
    assert_eq!(recorded.space.parameters().len(), 2);
    assert_eq!(recorded.count(Status::RunError), 1);
    let own = "x,status,speed,message,when,device,by\n1,ok,5,,1,d,b\n2,wrong-result,,off by one,1,d,b\n";
    let own = read(own).unwrap();
    assert_eq!((own.response.as_str(), own.trials[1].status), ("speed", Status::WrongResult));
    assert_eq!((own.trials[1].message.as_str(), own.trials[0].when.as_str()), ("off by one", "1"));
    let options = ReadOptions { response: Some("y".to_owned()), ..ReadOptions::default() };
    let chosen = Recorded::from_bytes(Path::new("file"), b"x,y\n1,5\n2,6\n", &options).unwrap();
    assert_eq!(chosen.trials[1].response("y"), Some(6.0));
}

/// What is said, as `parameters|metric|status`, with `-` for what is not.
fn said(text: &str) -> ReadOptions {
    let parts: Vec<Option<String>> =
        text.split('|').map(|part| Some(part.to_owned()).filter(|part| part != "-")).collect();
    ReadOptions {
        parameters: parts[0].iter().cloned().collect(),
        response: parts[1].clone(),
        status: parts[2].clone(),
        ..ReadOptions::default()
    }
}

/// The roles of a file, as `parameters|metrics|status|ignored`.
fn roles(text: &str, options: &ReadOptions) -> Result<String> {
    let recorded = Recorded::from_bytes(Path::new("file"), text.as_bytes(), options)?;
    let roles = recorded.roles;
    let names =
        |list: &[roles::Named]| list.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(",");
    let status = roles.status.map_or("-".to_owned(), |column| column.name);
    assert!(
        roles
            .parameters
            .iter()
            .chain(&roles.metrics)
            .chain(&roles.ignored)
            .all(|column| !column.why.is_empty())
    );
    Ok(format!("{}|{}|{status}|{}", names(&roles.parameters), names(&roles.metrics), names(&roles.ignored)))
}

/// All combinations of values, each row with a result that depends on all of them.
fn grid(header: &str, columns: &[&[&str]], result: impl Fn(usize) -> String) -> String {
    let mut rows = vec![String::new()];
    for column in columns {
        rows = rows.iter().flat_map(|row| column.iter().map(move |value| format!("{row}{value},"))).collect();
    }
    let rows = rows.iter().enumerate().map(|(number, row)| format!("{row}{}\n", result(number)));
    format!("{header}\n{}", rows.collect::<String>())
}

fn scattered(number: usize) -> String {
    format!("{}", 1.0 + (number * 7919 % 1009) as f64 / 1009.0)
}

#[test]
fn roles_that_names_and_values_prove() {
    let (alpha, b): (&[&str], &[&str]) = (&["0.5", "1", "10"], &["1", "2", "4", "8"]);
    let whole = |number: usize| format!("{}", 100 + number * 37 % 91);
    for (text, expected) in [
        (grid("alpha,b,runtime", &[alpha, b], scattered), "alpha,b|runtime|-|"),
        (grid("b,alpha,runtime_ms", &[b, alpha], whole), "b,alpha|runtime_ms|-|"),
        (grid("\"b\",\"k\",\"Time [ms]\"", &[b, &["x y", "z"]], scattered), "b,k|Time [ms]|-|"),
        (grid("\u{feff}b,c,elapsed", &[b, b], whole), "b,c|elapsed|-|"),
        (grid("time_tile,b,seconds", &[&["1", "2", "3"], b], whole), "time_tile,b|seconds|-|"),
        (grid("b,size,time", &[b, &["1024"]], scattered), "b,size|time|-|"),
        // The status may stand anywhere.
        (grid("b,status,c,time", &[b, &["ok"], b], scattered), "b,c|time|status|"),
        (grid("status,b,time", &[&["success"], b], scattered), "b|time|status|"),
        (grid("b,c,is_valid,time", &[b, b, &["True"]], scattered), "b,c|time|is_valid|"),
        // Several metrics: the time counts, other columns by their names do not.
        (
            grid("b,c,compile_time,time,power_w", &[b, b, &["3"]], |n| format!("{},{}", scattered(n), n % 5)),
            "b,c|time,compile_time,power_w|-|",
        ),
    ] {
        assert_eq!(roles(&text, &ReadOptions::default()).unwrap(), expected, "{text}");
        let semicolons = text.replace(',', ";");
        assert_eq!(roles(&semicolons, &ReadOptions::default()).unwrap(), expected, "{semicolons}");
    }
    // Numbers of rows, moments and remarks count for nothing.
    let text = ",b,c,time,timestamp,comment\n0,1,1,5.5,2026-01-01 10:00,\n1,2,1,6.5,2026-01-01 10:01,good\n\
                2,1,2,7.5,2026-01-01 10:02,\n3,2,2,8.5,2026-01-01 10:03,\n";
    assert_eq!(roles(text, &ReadOptions::default()).unwrap(), "b,c|time|-|,timestamp,comment");
    // The metric first, and failures among its values.
    let text = "time,b\n5.5,1\nTimeout,2\nnan,3\n,4\n";
    assert_eq!(roles(text, &ReadOptions::default()).unwrap(), "b|time|-|");
    let recorded = read(text).unwrap();
    assert_eq!((recorded.count(Status::Timeout), recorded.count(Status::Ok)), (1, 1));
}

#[test]
fn roles_that_would_be_a_guess_are_asked_for() {
    let (alpha, b): (&[&str], &[&str]) = (&["0.5", "1", "10"], &["1", "2", "4", "8"]);
    let many: Vec<String> =
        (0..40).map(|number| format!("{},{},{}\n", number % 4, number / 4, number % 7)).collect();
    let registers: Vec<String> =
        (0..40).map(|n| format!("{},{},{},{}\n", n % 4, n / 4, 32 + n % 3, scattered(n))).collect();
    let limits: Vec<String> = (0..24)
        .map(|n| format!("{},{},{}\n", n % 4, [100, 150, 200][n / 4 % 3], scattered(n % 12)))
        .collect();
    for (text, words) in [
        // No name of a measured quantity.
        (grid("alpha,b,result", &[alpha, b], scattered), "--parameters alpha,b --metric result"),
        (grid("p,q,r", &[b, b], scattered), "--parameters p,q --metric r"),
        // Few rows, and numbers with fractions: nothing proves anything.
        (
            "alpha,b,runtime\n0.5,1,3.5\n1,2,4.5\n10,4,5.5\n".to_owned(),
            "--parameters alpha,b --metric runtime",
        ),
        // A result of the parameters, or one of them.
        (format!("b,c,foo,time\n{}", registers.concat()), "tell all trials apart"),
        (format!("b,c,registers,time\n{}", registers.concat()), "may be a parameter, or a result"),
        (
            grid("b,foo,time", &[b], |n| format!("{},{}", scattered(n + 5), scattered(n))),
            "something measured",
        ),
        // Named as what is measured, and varied.
        (format!("b,power,time\n{}", limits.concat()), "configurations that look equal"),
        // What it is depends on what its values mean.
        (grid("b,status,time", &[b, &["0", "1"]], scattered), "--status status"),
        (grid("b,status,time", &[b, &["warm", "cold"]], scattered), "--status status"),
        (
            grid("b,status,valid,time", &[b, &["ok"], &["true"]], scattered),
            "several columns that may be the status",
        ),
        (grid("b,rep,time", &[b, &["1", "2", "3"]], scattered), "repetitions"),
        (grid("b,config_id,time", &[b, &["1", "1"]], scattered), "the number of a row"),
        // Which metric, and a rate.
        (
            grid("b,energy,power", &[b], |n| format!("{},{}", scattered(n), scattered(n + 9))),
            "which of `energy`",
        ),
        (grid("b,time_ms,time_s", &[b], |n| format!("{},{}", scattered(n), scattered(n + 9))), "which of"),
        (grid("b,GFLOP/s", &[b], scattered), "a rate"),
        (format!("b,c,d\n{}", many.concat()), "no column has the name of a measured quantity"),
        (
            grid("b;alpha;time", &[&["1;0,5", "2;0,7", "1;0,7", "2;0,5"]], scattered)
                .replace("5,", "5;")
                .replace("7,", "7;"),
            "a point, not a comma",
        ),
    ] {
        let error = roles(&text, &ReadOptions::default()).unwrap_err();
        let all = format!("{error}\n{}", error.hint());
        assert!(all.contains(words), "{text}\n{all}");
        assert!(all.contains("different") && all.contains("--parameters"), "{all}");
    }
}

#[test]
fn what_is_said_counts() {
    let text =
        grid("alpha,b,foo,status,runtime", &[&["0.5", "1", "10"], &["1", "2"], &["2.5"], &["ok"]], scattered);
    for (say, expected) in [
        ("alpha,b|runtime|-", "alpha,b|runtime|status|foo"),
        ("alpha,b|-|-", "alpha,b|runtime|status|foo"),
        (" b , alpha |foo|-", "b,alpha|foo,runtime|status|"),
        ("alpha,b,foo|runtime|status", "alpha,b,foo|runtime|status|"),
        ("alpha,status|-|-", "alpha,status|runtime|-|b,foo"),
        ("alpha,b|b2|-", "did you mean `b`?"),
        ("alfa,b|runtime|-", "did you mean `alpha`?"),
        ("alpha,b|b|-", "`b` has two roles"),
        ("alpha,b|-|b", "`b` has two roles"),
        ("alpha,b|foo|foo", "`foo` has two roles"),
        ("alpha,alpha|-|-", "names `alpha` twice"),
        ("alpha,,b|-|-", "names no column between"),
        ("-|runtime|b", "does not say whether the trial succeeded"),
    ] {
        match roles(&text, &said(say)) {
            Ok(found) => assert_eq!(found, expected, "{say}"),
            Err(error) => {
                let all = format!("{error} {}", error.hint());
                assert!(all.contains(expected), "{say}: {all}");
            }
        }
    }
    // A single other column can only be the metric.
    assert_eq!(roles("a,zz\n1,2\n2,3\n", &said("a|-|-")).unwrap(), "a|zz|-|");
    assert_eq!(roles("\"a,b\",c,zz\n1,1,2\n2,1,3\n", &said("\"a,b\",c|-|-")).unwrap(), "a,b,c|zz|-|");
    // Words of others for how trials ended; what failed does not count although it has a number.
    let text = "b,outcome,time\n1,PASSED,5\n2,Compilation failed,1\n3,timed out,2\n4,segfault,3\n5,,6\n";
    let recorded = read(text).unwrap();
    let statuses: Vec<Status> = recorded.trials.iter().map(|trial| trial.status).collect();
    use Status::{CompileError, Ok as Good, RunError, Timeout};
    assert_eq!(statuses, [Good, CompileError, Timeout, RunError, Good]);
}

#[test]
fn cells_that_are_no_values_say_where() {
    for (text, say, words) in [
        ("a,b,time\n1,1,5.5\n,2,6.5\n", "a,b|time|-", "line 3: `` is no value of the parameter `a`"),
        ("a,b,time\n1,1,5.5\nNaN,2,6.5\n", "a,b|time|-", "line 3: `NaN` is no value"),
        ("a,time\n1,5.5\n2,6.5 ms\n", "a|time|-", "line 3: `6.5 ms` in the column `time` is no number"),
        ("a;time\n1;5,5\n2;6,5\n", "a|time|-", "line 2: `5,5` in the column `time` is no number"),
        ("a,a,time\n1,1,5.5\n", "-|-|-", "two columns have the name `a`"),
        ("1,2,5.5\n1,3,6.5\n", "-|-|-", "line 1: `1` stands where the name"),
    ] {
        let error = roles(text, &said(say)).unwrap_err().to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
}

#[test]
fn other_formats_state_their_roles() {
    let cache = format!("{CACHE}}}}}");
    assert_eq!(roles(&cache, &ReadOptions::default()).unwrap(), "x,kind|GFLOP/s,time|time|times,timestamp");
    assert_eq!(roles(&cache, &said("kind,x|-|-")).unwrap(), "x,kind|GFLOP/s,time|time|times,timestamp");
    for (say, words) in [
        ("x|-|-", "leave --parameters away"),
        ("x,knd|-|-", "did you mean `kind`?"),
        ("x,time|-|-", "two roles"),
        ("-|-|time", "leave --status away"),
    ] {
        let error = roles(&cache, &said(say)).unwrap_err();
        let all = format!("{error} {}", error.hint());
        assert!(all.contains(words), "{say}: {all}");
    }
    // A cache that counts by a rate, or lacks the time.
    let rate = cache.replace("\"kernel_name\"", "\"objective\": \"GFLOP/s\", \"kernel_name\"");
    let rate =
        rate.replace("\"time\": \"CompilationFailedConfig\"", "\"GFLOP/s\": \"CompilationFailedConfig\"");
    let rate = rate.replace("\"time\": 1.5", "\"GFLOP/s\": 9");
    assert!(read(&rate).unwrap_err().to_string().contains("a rate"));
    assert!(roles(&rate, &said("-|GFLOP/s|-")).is_ok());
    let other = cache.replace("\"time\"", "\"cost\"");
    assert!(read(&other).unwrap_err().hint().contains("--metric"));
    assert_eq!(roles(&other, &said("-|cost|-")).unwrap(), "x,kind|GFLOP/s,cost|cost|times,timestamp");
    // T4 without objectives: nobody says which of two measurements counts.
    let t4 = r#"{"results": [{"configuration": {"x": 1}, "invalidity": "correct",
        "measurements": [{"name": "energy", "value": 1.5}, {"name": "area", "value": 2}]}]}"#;
    assert!(read(t4).unwrap_err().to_string().contains("`objectives` is missing"));
    assert_eq!(roles(t4, &said("-|area|-")).unwrap(), "x|area,energy|invalidity|");
}

#[test]
fn cells_that_would_be_formulas_are_read_back() {
    let text = "flags,\u{27}=x,time_ms\n'-O3,a,1.5\n-2,\u{27}@b,2.5\n''-O3,c,3.5\n";
    let options =
        ReadOptions { parameters: vec!["flags".to_owned(), "=x".to_owned()], ..ReadOptions::default() };
    let read = |text: &str| Recorded::from_bytes(Path::new("file"), text.as_bytes(), &options);
    let recorded = read(text).unwrap();
    let recording = Recording::from_bytes(Path::new("file"), text.as_bytes(), &options).unwrap();
    let names: Vec<&str> = recorded.space.parameters().iter().map(|parameter| parameter.name()).collect();
    assert_eq!(names, ["flags", "=x"]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("again.csv");
    write_csv(&path, &recording.names(), &recording.trials, "time_ms").unwrap();
    let written = std::fs::read_to_string(&path).unwrap();
    for cell in ["flags,'=x,", "\n'-O3,a,", "\n-2,'@b,", "\n''-O3,c,"] {
        assert!(written.contains(cell), "{written}");
    }
    let again = read(&written).unwrap();
    let values = |recorded: &Recorded| -> Vec<Vec<Value>> {
        recorded.trials.iter().map(|trial| recorded.space.values(&trial.point)).collect()
    };
    assert_eq!(values(&again), values(&recorded));
    assert_eq!(values(&again)[0][0], Value::from("-O3"));
}

#[test]
fn malformed_files_say_where_and_why() {
    let problem = |text: &str| read(text).unwrap_err().to_string();
    assert_eq!(problem(""), "file: the file is empty");
    assert!(problem("{\"cache\": {\"1\": {\"x\": 1, \"time\": 2}").contains("no parameter"));
    assert!(problem("{\"cache\": [}").contains("line 1, column"));
    assert!(
        problem(&CACHE.replace("\"kind\": \"b\", \"time\": 1.5", "\"time\": 1.5"))
            .contains("record \"4,b\": the parameter `kind` is missing")
    );
    assert!(problem(&CACHE[..CACHE.len() - 9]).contains("ends in the middle"));
    assert!(problem("{\"a\": 1}").contains("none of the known formats"));
    assert!(problem("x,y\n1,2\n1,2,3\n").contains("line 3"));
    assert!(problem("x,y\n1,2\n3,4\n").contains("no column has the name of a measured quantity"));
    assert!(problem("x,time\n").contains("no line behind the header"));
    assert!(problem("x,time\n1,failed\n").contains("no cell is a number"));
    let options = ReadOptions { response: Some("tme".to_owned()), ..ReadOptions::default() };
    let error = Recorded::from_bytes(Path::new("file"), (CACHE.to_owned() + "}}").as_bytes(), &options);
    assert!(error.unwrap_err().hint().contains("did you mean `time`?"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Recorded::from_bytes(Path::new("file"), &bytes, &ReadOptions::default());
    }

    /// A valid file with one piece replaced.
    #[test]
    fn no_damaged_file_panics(
        which in 0..3usize, from in 0..300usize, length in 0..40usize, with in "[\\[\\]{},:\"0-9a-z.\\-]{0,6}"
    ) {
        let files = [
            CACHE.to_owned() + "}}",
            "x,flag,time\n1,true,1e-9\n2,false,\n4,true,2e-9\n".to_owned(),
            r#"{"results": [{"configuration": {"x": 1}, "times": {"runtimes": [1, 2]}, "invalidity": "correct",
               "measurements": [{"name": "time", "value": 1.5}], "objectives": ["time"]}],
               "ConfigurationSpace": {"TuningParameters": [{"Name": "x", "Values": "[1]"}]}}"#.to_owned(),
        ];
        let text = &files[which];
        let from = from.min(text.len());
        let end = (from + length).min(text.len());
        let damaged = format!("{}{with}{}", &text[..from], &text[end..]);
        let _ = Recorded::from_bytes(Path::new("file"), damaged.as_bytes(), &ReadOptions::default());
    }
}
