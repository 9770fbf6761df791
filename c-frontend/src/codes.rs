//! The stable codes of the diagnostics about C programs; `docs/c-input.md` explains each.

use polyhedral::diagnostic::Code;

macro_rules! codes {
    ($($name:ident = $code:literal, $meaning:literal;)*) => {
        $(#[doc = $meaning] pub const $name: Code = Code($code);)*

        /// Every code with its meaning, in order.
        pub const ALL: &[(Code, &str)] = &[$(($name, $meaning),)*];
    };
}

codes! {
    UNREADABLE = "TW1001", "a file beyond the size limit";
    NO_COMPILER = "TW1002", "no C compiler that could preprocess the file";
    COMPILER = "TW1003", "what the C compiler says of a file that is not C";
    SYNTAX = "TW1004", "a part of the file that could not be parsed";
    LINE_NUMBERS = "TW1005", "a file whose lines get other numbers by `#line`";
    ARITHMETIC = "TW1006", "a program that changes how floating-point numbers are computed";
    CUT = "TW1007", "a time loop that cannot be taken out of its file alone";
    RESERVED = "TW1008", "a name that the rewritten program needs itself";
    NO_SCOP = "TW1101", "no time loop, or a `#pragma scop` without its `#pragma endscop`";
    SCOP_PLACE = "TW1102", "a region that does not hold whole statements of one function";
    NO_TIME_LOOP = "TW1104", "no time loop around space loops, or several";
    LOOP_FORM = "TW1201", "a loop that does not count up or down by one";
    BOUND = "TW1202", "a bound that is not affine, or that changes during the loop";
    DOMAINS = "TW1203", "bounds of two statements that differ by more than a constant";
    TIME_LOOP = "TW1204", "a time loop that is left early or counts in another way";
    STATEMENT = "TW1205", "a statement that a stencil does not have";
    DECLARATION = "TW1206", "a declaration that a region cannot hold";
    PIECES = "TW1207", "conditions on indices that cut the grid into too many pieces";
    OBSERVED = "TW1210", "something that must run between every two time steps";
    SUBSCRIPT = "TW1301", "a subscript that is not an index plus a constant";
    TIME_SUBSCRIPT = "TW1302", "a subscript in which time is not taken modulo the number of buffers";
    ARRAY = "TW1303", "an array of a type that stencils do not have";
    DIMENSION = "TW1304", "arrays of different or too many dimensions";
    OFFSET = "TW1305", "an offset beyond the limit";
    GUARDED = "TW1306", "an element under a condition, which may lie outside its array";
    IN_PLACE = "TW1401", "an update in place in another order than that of its subscripts";
    ORDER = "TW1402", "a value of the same step that is not complete where it is read";
    OVERWRITTEN = "TW1403", "points that two statements of one step compute";
    REDUCTION = "TW1404", "a scalar that is carried from point to point";
    LIVE_OUT = "TW1405", "a scalar computed in the loop and used behind it";
    NOTHING_COMPUTED = "TW1406", "a region that computes no array";
    COLOURS = "TW1407", "passes over the points of colours (red-black) that are not steps of their own";
    CALL = "TW1501", "a call that is no function of math.h and cannot be replaced by what the function does";
    TYPE = "TW1502", "a value of a type other than float, double and integers";
    EXPRESSION = "TW1503", "an operation that stencils do not have";
    UNKNOWN_NAME = "TW1504", "a name whose declaration is not understood";
    TIME_VALUE = "TW1505", "a value that depends on the time step and the place at once";
    TOO_DEEP = "TW1506", "statements or expressions nested beyond the limit, or too many of them";
}
