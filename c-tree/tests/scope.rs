//! Names that are given once, and never one of the languages'.

use c_tree::Scope;

#[test]
fn names_are_given_once() {
    let mut scope = Scope::new();
    assert_eq!(scope.name("x"), "x");
    assert_eq!(scope.name("x"), "x_");
    assert_eq!(scope.name("x_"), "x__");
    assert_eq!(scope.name("while"), "while_");
    assert_eq!(scope.name("threadIdx"), "threadIdx_");
    assert_eq!((scope.free("y"), scope.free("y")), ("y".to_string(), "y".to_string()));
    let mut inner = scope.inner();
    assert_eq!((inner.name("x"), inner.name("y")), ("x___".to_string(), "y".to_string()));
    assert_eq!(scope.name("y"), "y");
}

#[test]
fn names_of_generators_and_compilers_are_given_to_nobody() {
    let mut scope = Scope::new();
    for name in ["tw_x", "_X", "__x", "tw_", "__"] {
        let given = scope.name(name);
        assert!(!given.starts_with("tw_") && !given.starts_with('_'), "{given}");
    }
    assert_eq!(scope.name("_x"), "_x");
}
