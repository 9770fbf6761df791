//! A small syntax tree for C and CUDA, and its printer.
//!
//! A generator makes expressions by operators and statements by functions, and prints whole functions: nobody but the
//! printer deals with parentheses, braces, indentation or the length of lines. What is known when the tree is built is
//! folded ([`fold`]): integers and truth values, exactly as C computes them, and floating point never.
//!
//! ```
//! use c_tree::{Block, Dialect, Function, Stmt, Type, call, int, name, var};
//!
//! let (a, n) = (name("a"), var("n"));
//! let mut body = Block::new();
//! let i = var("i");
//! let sum = a.at(&i - 1) + a.at(&i + 1);
//! let assign = Stmt::assign(name("b").at(&i), call("sqrtf", [sum]));
//! body.push(Stmt::count("int", "i", 1, &n - (int(3) - 2), assign));
//! let function = Function::new("roots")
//!     .comment("The root of the sum of the neighbours.")
//!     .attribute("static")
//!     .parameter(Type::new("float").constant().restrict_pointer(), "a")
//!     .parameter(Type::new("float").restrict_pointer(), "b")
//!     .parameter("int", "n")
//!     .body(body);
//! assert_eq!(
//!     function.print(Dialect::C),
//!     "/* The root of the sum of the neighbours. */
//! static void roots(const float *restrict a, float *restrict b, int n)
//! {
//!     for (int i = 1; i < n - 1; ++i) {
//!         b[i] = sqrtf(a[i - 1] + a[i + 1]);
//!     }
//! }
//! "
//! );
//! ```
//!
//! | module | |
//! |---|---|
//! | [`expr`] | expressions |
//! | [`build`] | how expressions are made |
//! | [`fold`] | what is folded, and why that is exact |
//! | [`stmt`] | statements and blocks |
//! | [`function`] | functions, prototypes, structures |
//! | [`scope`] | names that are not taken |
//! | [`mod@print`] | text: precedence, lines, comments |
//! | [`layout`] | where a line that is too long is broken |

pub mod build;
pub mod expr;
pub mod fold;
pub mod function;
pub mod layout;
pub mod print;
pub mod scope;
pub mod stmt;
pub mod types;

pub use build::{all, any, call, flag, int, name, truth, var};
pub use expr::{BinaryOp, Expr, Sort, UnaryOp};
pub use function::{Function, Record};
pub use print::{COLUMNS, Dialect, comment_lines};
pub use scope::Scope;
pub use stmt::{Block, Declaration, Stmt};
pub use types::Type;
