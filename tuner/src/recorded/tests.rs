use super::*;
use proptest::prelude::*;

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
        assert_eq!((first.metrics["GFLOP/s"].value, first.origin.when.as_str()), (7.0, "now"));
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
    let recorded = read("x,flag,time_per_pixel\n1,true,1e-9\n2,false,\n4,true,2e-9\n").unwrap();
    assert_eq!(recorded.response, "time_per_pixel");
    assert_eq!(recorded.space.parameters().len(), 2);
    assert_eq!(recorded.count(Status::RunError), 1);
    let own = read("x,status,message,speed\n1,ok,,5\n2,wrong-result,off by one,\n").unwrap();
    assert_eq!((own.response.as_str(), own.trials[1].status), ("speed", Status::WrongResult));
    assert_eq!(own.trials[1].message, "off by one");
    let options = ReadOptions { response: Some("y".to_owned()) };
    let chosen = Recorded::from_bytes(Path::new("file"), b"x,y\n1,5\n2,6\n", &options).unwrap();
    assert_eq!(chosen.trials[1].response("y"), Some(6.0));
}

#[test]
fn cells_that_would_be_formulas_are_read_back() {
    let text = "flags,\u{27}=x,time_ms\n'-O3,a,1.5\n-2,\u{27}@b,2.5\n''-O3,c,3.5\n";
    let recorded = read(text).unwrap();
    let names: Vec<&str> = recorded.space.parameters().iter().map(|parameter| parameter.name()).collect();
    assert_eq!(names, ["flags", "=x"]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("again.csv");
    write_csv(&path, &recorded.space, &recorded.trials, "time_ms").unwrap();
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
    assert!(problem("x,y\n1,2\n3,4\n").contains("no column looks like a measured quantity"));
    assert!(problem("x,time\n").contains("no line behind the header"));
    assert!(problem("x,time\n1,failed\n").contains("no trial has a measured value"));
    let options = ReadOptions { response: Some("tme".to_owned()) };
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
