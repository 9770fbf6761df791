//! The stable codes of the language's diagnostics; `docs/nested.md` explains each.

use polyhedral::diagnostic::Code;

macro_rules! codes {
    ($($name:ident = $code:literal, $meaning:literal;)*) => {
        $(#[doc = $meaning] pub const $name: Code = Code($code);)*

        /// Every code with its meaning, in order.
        pub const ALL: &[(Code, &str)] = &[$(($name, $meaning),)*];
    };
}

codes! {
    UNEXPECTED_CHARACTER = "TW1101", "a character that the language does not use";
    MALFORMED_NUMBER = "TW1102", "a number with a suffix or a stray part";
    NUMBER_OUT_OF_RANGE = "TW1103", "a number that its type cannot hold";
    INVALID_UTF8 = "TW1104", "a file that is not UTF-8 text";
    FILE_TOO_LARGE = "TW1105", "a file beyond the size limit";
    SYNTAX = "TW1106", "something else was expected here";
    UNCLOSED = "TW1107", "the end of the file inside the program";
    NESTED_TOO_DEEP = "TW1108", "an expression nested beyond the limit";
    TOO_LARGE = "TW1109", "a program beyond the size limit, with its functions put in";
    UNKNOWN_NAME = "TW1201", "a name that is not declared";
    DUPLICATE_NAME = "TW1202", "a name declared twice";
    RESERVED_NAME = "TW1203", "a name that the language or C keeps for itself";
    NOT_A_FUNCTION = "TW1204", "a call of something that is no function";
    ARGUMENT_COUNT = "TW1205", "too few or too many arguments";
    FUNCTION_AS_VALUE = "TW1206", "a function where a value is needed";
    VALUE_AS_FUNCTION = "TW1207", "a value where a function is needed";
    TYPE_MISMATCH = "TW1301", "a value of another type than the one that is needed";
    NOT_A_SEQUENCE = "TW1302", "a value that is no sequence where one is needed";
    NOT_A_NUMBER = "TW1303", "an operand that the operator does not take";
    NO_COMPONENT = "TW1304", "a component that the value does not have";
    PATTERN = "TW1305", "a pattern that does not fit the value";
    UNKNOWN_TYPE = "TW1306", "a type that the language does not have";
    PREFIX_NEEDED = "TW1307", "a reduction whose operator has no identity of its own, without a prefix";
    NOT_CONSTANT = "TW1308", "a table or a parameter that is not made of numbers";
    ASSIGNMENT = "TW1401", "an assignment to something that is no state of this program";
    OUTSIDE_REPEAT = "TW1402", "an assignment outside of `repeat`, or a declaration that belongs there";
    NO_OUTPUT = "TW1403", "a program without an output";
    NESTING = "TW1404", "sequences nested deeper than 4";
    IN_FUNCTION = "TW1501", "an operator that works on a whole sequence at once, inside of a function";
    STORED_FORM = "TW1502", "a value that cannot be stored as it is";
    ORDERED = "TW1503", "elements of a scan inside of a function, not read in order";
    ROW_OPERATOR = "TW1504", "a reduction of rows whose operator is no map over both";
    REPEAT_FORM = "TW1505", "a `repeat` inside of a `repeat`";
    DATA = "TW1601", "data that does not fit the program: found when it runs";
}
