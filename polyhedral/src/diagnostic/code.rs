//! The stable codes of all diagnostics of the language; `docs/language.md` explains each.

use serde::{Serialize, Serializer};
use std::fmt;

/// A stable diagnostic code such as `TW0103`. A code keeps its meaning for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code(pub &'static str);

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0)
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

macro_rules! codes {
    ($($name:ident = $code:literal, $meaning:literal;)*) => {
        impl Code {
            $(#[doc = $meaning] pub const $name: Code = Code($code);)*

            /// Every code with its meaning, in order.
            pub const ALL: &'static [(Code, &'static str)] = &[$((Code::$name, $meaning),)*];
        }
    };
}

codes! {
    UNEXPECTED_CHARACTER = "TW0101", "a character that the language does not use";
    UNTERMINATED_COMMENT = "TW0102", "a block comment without its end";
    MALFORMED_NUMBER = "TW0103", "a number with a suffix or a stray part";
    NUMBER_OUT_OF_RANGE = "TW0104", "a number too large or too small for f64";
    INVALID_UTF8 = "TW0105", "a file that is not UTF-8 text";
    FILE_TOO_LARGE = "TW0106", "a file beyond the size limit";
    SYNTAX = "TW0107", "something else was expected here";
    NESTED_TOO_DEEP = "TW0108", "an expression nested beyond the limit";
    EXPRESSION_TOO_LARGE = "TW0109", "an expression beyond the size limit";
    NO_STENCIL = "TW0110", "a file without a stencil";
    TEXT_AFTER_STENCIL = "TW0111", "text, or another stencil, after the stencil";
    UNCLOSED = "TW0112", "the end of the file inside the stencil";
    UNKNOWN_NAME = "TW0201", "a name that is not declared";
    DUPLICATE_NAME = "TW0202", "a name declared twice";
    RESERVED_NAME = "TW0203", "a name that C, CUDA or the tool keeps for itself";
    NAME_TOO_LONG = "TW0204", "a name beyond the length limit";
    UNKNOWN_FUNCTION = "TW0205", "a call of something that is not a function";
    ARGUMENT_COUNT = "TW0206", "a function called with the wrong number of arguments";
    USED_BEFORE_LET = "TW0207", "a local used before its `let`";
    UNKNOWN_TYPE = "TW0208", "a type other than f32 and f64";
    UNKNOWN_BOUNDARY = "TW0209", "an unknown boundary";
    DIMENSION = "TW0210", "too few or too many indices of a stencil";
    DUPLICATE_BOUNDARY = "TW0211", "two boundary declarations";
    PERIODIC_INDEX = "TW0212", "a periodic boundary along something other than an index of space";
    DEFAULT_NOT_CONSTANT = "TW0213", "a parameter's default that is not a constant";
    DEFAULT_NOT_FINITE = "TW0214", "a parameter's default that is not finite";
    TOO_FEW_SLOTS = "TW0215", "a field that asks for too few, or too many, stored time levels";
    INDEX_COUNT = "TW0301", "an access with the wrong number of indices";
    INDEX_ORDER = "TW0302", "an index in the wrong position";
    INDEX_FORM = "TW0303", "an index that is not `index + constant`";
    OFFSET_TOO_LARGE = "TW0304", "an offset beyond the limit";
    TIME_LEVEL = "TW0305", "a time level that cannot be read";
    FIELD_WITHOUT_INDEX = "TW0306", "a field used without indices";
    NOT_INDEXABLE = "TW0307", "indices on something that is not a field";
    INDEX_AS_VALUE = "TW0308", "an index used as a value, not supported yet";
    REMAINDER_FORM = "TW0309", "a remainder that is no condition on indices";
    TARGET_FORM = "TW0401", "an assignment to something other than the point at t+1";
    ASSIGNED_TWICE = "TW0402", "points of a field computed by two statements";
    NOT_ASSIGNABLE = "TW0403", "an assignment to something that never changes";
    NEVER_WRITTEN = "TW0404", "a state field that no statement computes";
    IN_PLACE = "TW0405", "a read of the new time level before it is computed";
    NO_STATEMENT = "TW0406", "a stencil without a statement";
    TOO_MANY = "TW0407", "too many declarations or statements";
    DOMAIN_FORM = "TW0408", "a domain that is not made of bounds of indices";
    EMPTY_DOMAIN = "TW0409", "a domain without points";
    OFF_GRID = "TW0410", "a domain from which a read leaves the grid";
    BOUNDED_AROUND = "TW0411", "a domain with bounds of an index that wraps around";
    IN_ORDER_AROUND = "TW0412", "an update in place on a grid that wraps around";
    INDICES_AROUND = "TW0413", "a condition on indices where the grid wraps around";
    CONDITION_AS_VALUE = "TW0501", "a condition where a number is needed";
    VALUE_AS_CONDITION = "TW0502", "a number where a condition is needed";
    LITERAL_NOT_F32 = "TW0503", "a number too large or too small for f32";
    INTERNAL = "TW0901", "an error in Tilewright itself";
}
