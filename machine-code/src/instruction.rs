//! One decoded instruction.

/// Lanes of a warp.
pub const LANES: usize = 32;
/// A register that the hardware reads as zero.
pub const ZERO_REGISTER: u8 = 255;
/// The uniform register that the hardware reads as zero.
pub const ZERO_UNIFORM: u8 = 255;
/// The predicate that is always true.
pub const TRUE_PREDICATE: u8 = 7;

/// A decoded instruction with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Instruction {
    /// Line of the listing.
    pub line: usize,
    /// Address in its section.
    pub address: u32,
    /// As it is written, without the guard.
    pub text: String,
    /// Lanes where this holds execute it.
    pub guard: Predicate,
    /// What it does.
    pub op: Op,
    /// Where it puts its results.
    pub destinations: Vec<Destination>,
    /// What it reads, in the order of the listing.
    pub sources: Vec<Source>,
    /// What it is counted as.
    pub kind: Kind,
    /// The label that it names.
    pub label: Option<String>,
    /// The instruction that the label stands before.
    pub target: Option<usize>,
}

/// A predicate register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Predicate {
    /// Its number; [`TRUE_PREDICATE`] is true.
    pub index: u8,
    /// Whether it is one of the warp's instead of one of each lane's.
    pub uniform: bool,
    /// Whether it is negated.
    pub negated: bool,
}

impl Predicate {
    /// The one that always holds.
    pub const TRUE: Predicate = Predicate { index: TRUE_PREDICATE, uniform: false, negated: false };
}

/// Where a result goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    /// A register of each lane, and those after it.
    Register(u8),
    /// A register of the warp.
    Uniform(u8),
    /// A predicate.
    Predicate(Predicate),
    /// A register of barriers.
    Barrier(u8),
    /// All predicates at once.
    AllPredicates,
}

/// What an instruction reads.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// A register with its sign.
    Register {
        /// Its number.
        index: u8,
        /// Whether it is one of the warp's.
        uniform: bool,
        /// What is done to it first.
        sign: Sign,
        /// Whether its absolute value, as a floating-point number, is taken.
        absolute: bool,
    },
    /// A predicate.
    Predicate(Predicate),
    /// A word of a constant bank.
    Constant {
        /// The bank.
        bank: u32,
        /// Where.
        address: Address,
        /// What is done to it first.
        sign: Sign,
        /// Whether its absolute value, as a floating-point number, is taken.
        absolute: bool,
    },
    /// An integer.
    Integer(u32),
    /// A floating-point number.
    Float(f64),
    /// A place in memory.
    Memory(Address),
    /// A register of barriers.
    Barrier(u8),
    /// A special register.
    Special(Special),
    /// All predicates at once.
    AllPredicates,
}

/// What is done to an integer before it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// Nothing.
    Plus,
    /// Two's complement.
    Minus,
    /// One's complement.
    Not,
}

/// A sum of registers and a number.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Address {
    /// Registers, whether they are the warp's, how many there are side by side (2 for `.64`), and by what they are
    /// multiplied.
    pub terms: Vec<Term>,
    /// The number.
    pub offset: i64,
}

/// A part of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term {
    /// Number of the register.
    pub index: u8,
    /// Whether it is one of the warp's.
    pub uniform: bool,
    /// Whether the register and the one after it are one number.
    pub wide: bool,
    /// What it is multiplied by.
    pub factor: u32,
}

/// Special registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Special {
    /// Thread in the block.
    Thread(usize),
    /// Block in the grid.
    Block(usize),
    /// Lane in the warp.
    Lane,
    /// Always zero.
    Zero,
    /// Lanes that execute the instruction.
    ActiveMask,
    /// Lanes before this one.
    LanesBelow,
}

/// How two numbers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// Always false.
    False,
    /// `<`
    Less,
    /// `==`
    Equal,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `!=`
    NotEqual,
    /// `>=`
    GreaterEqual,
    /// Always true.
    True,
}

/// How a result is joined with a predicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    /// Both.
    And,
    /// One of them.
    Or,
    /// Exactly one of them.
    Xor,
}

/// Which memory is accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    /// Global.
    Global,
    /// Shared.
    Shared,
    /// A thread's own.
    Local,
}

/// Which numbers a floating-point instruction works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// 16 bits.
    Half,
    /// 32 bits.
    Single,
    /// 64 bits.
    Double,
}

/// How a product's 64 bits are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    /// The lower half.
    Low,
    /// The upper half of product and sum.
    High,
    /// All of it.
    Wide,
}

/// How lanes exchange values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exchange {
    /// From the lane of this number.
    Index,
    /// From so many lanes before.
    Up,
    /// From so many lanes after.
    Down,
    /// From the lane whose number differs in these bits.
    Butterfly,
}

/// What an instruction does. Names follow the opcodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Op {
    Add3 {
        carried: bool,
    },
    MultiplyAdd {
        product: Product,
        signed: bool,
        carried: bool,
    },
    ShiftAdd {
        high: bool,
        extended: bool,
        carried: bool,
    },
    Logic {
        all: bool,
    },
    PredicateLogic,
    Shift {
        right: bool,
        wide: bool,
        signed: bool,
        high: bool,
        wraps: bool,
    },
    Compare {
        comparison: Comparison,
        signed: bool,
        join: Join,
        extended: bool,
    },
    Select,
    Extreme {
        signed: bool,
    },
    /// Of three operands.
    Extreme3 {
        signed: bool,
    },
    AddExtreme {
        signed: bool,
    },
    Add,
    Move,
    Permute,
    Absolute,
    LeadingOne {
        signed: bool,
        shift: bool,
    },
    CountOnes,
    Reverse,
    SignExtend {
        signed: bool,
    },
    PredicatesToRegister,
    RegisterToPredicates,
    Special {
        words: u8,
    },
    LoadConstant {
        words: u8,
    },
    /// The value of a float is not followed: it is an ordinary number.
    Arithmetic {
        precision: Precision,
        operations: u8,
    },
    /// Selections, extrema and roundings of floating-point numbers.
    Numeric {
        precision: Precision,
    },
    CompareFloats {
        precision: Precision,
        comparison: Comparison,
        unordered: bool,
        join: Join,
    },
    CheckDivision,
    Function {
        double: bool,
        reciprocal: bool,
    },
    FloatToFloat {
        words: u8,
    },
    IntegerToFloat {
        signed: bool,
        source_words: u8,
        words: u8,
        up: bool,
    },
    FloatToInteger {
        signed: bool,
        words: u8,
    },
    HalfPair,
    Load {
        space: Space,
        bytes: u8,
        signed: bool,
    },
    Store {
        space: Space,
        bytes: u8,
    },
    CopyAsync {
        bytes: u8,
    },
    /// Read, changed and written by one lane after the other.
    Atomic {
        space: Space,
        bytes: u8,
    },
    CommitCopies,
    WaitCopies,
    Fence,
    Barrier,
    Shuffle(Exchange),
    Vote {
        all: bool,
    },
    Branch,
    BranchDivergent,
    BranchIndirect,
    Call,
    Return,
    Exit,
    OpenRegion,
    CloseRegion,
    LeaveRegion,
    WarpSync {
        all: bool,
    },
    MoveBarrier {
        clear: bool,
    },
    Nothing,
}

/// What instructions are counted as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Sums, products and fused ones of single precision.
    Single,
    /// The same of double precision.
    Double,
    /// Comparisons, selections and extrema of floating-point numbers, and all of half precision.
    OtherFloat,
    /// Reciprocals, roots, exponentials.
    Function,
    /// Conversions.
    Conversion,
    /// Integers of 32 bits.
    Integer,
    /// Products of 64 bits.
    WideMultiply,
    /// Integer comparisons and logic of predicates.
    Predicate,
    /// Moves, constants and special registers.
    Move,
    /// The same on values of the whole warp.
    Uniform,
    /// Branches, regions, calls, and instructions that do nothing.
    Control,
    /// Barriers of the block.
    Barrier,
    /// Shuffles and votes.
    Shuffle,
    /// From shared memory.
    SharedLoad,
    /// To shared memory.
    SharedStore,
    /// From global memory.
    GlobalLoad,
    /// To global memory.
    GlobalStore,
    /// From global memory to shared memory, in the background, with the waits for it.
    Copy,
    /// Spilled registers and local arrays.
    Local,
    /// Atomic operations, on global and shared memory.
    Atomic,
}

impl Kind {
    /// All of them, in the order of reports.
    pub const ALL: [Kind; 20] = [
        Kind::Single,
        Kind::Double,
        Kind::OtherFloat,
        Kind::Function,
        Kind::Conversion,
        Kind::Integer,
        Kind::WideMultiply,
        Kind::Predicate,
        Kind::Move,
        Kind::Uniform,
        Kind::Control,
        Kind::Barrier,
        Kind::Shuffle,
        Kind::SharedLoad,
        Kind::SharedStore,
        Kind::GlobalLoad,
        Kind::GlobalStore,
        Kind::Copy,
        Kind::Local,
        Kind::Atomic,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Single => "fp32",
            Kind::Double => "fp64",
            Kind::OtherFloat => "fp_other",
            Kind::Function => "special_function",
            Kind::Conversion => "conversion",
            Kind::Integer => "integer",
            Kind::WideMultiply => "wide_multiply",
            Kind::Predicate => "predicate",
            Kind::Move => "move",
            Kind::Uniform => "uniform",
            Kind::Control => "control",
            Kind::Barrier => "barrier",
            Kind::Shuffle => "shuffle",
            Kind::SharedLoad => "shared_load",
            Kind::SharedStore => "shared_store",
            Kind::GlobalLoad => "global_load",
            Kind::GlobalStore => "global_store",
            Kind::Copy => "copy",
            Kind::Local => "local",
            Kind::Atomic => "atomic",
        }
    }
}

impl Instruction {
    /// Whether it is one of those by which integers are divided: by a variable, the conversion that is rounded up, before its
    /// reciprocal; by a constant, the upper half of a product, of 32 or of 64 bits.
    pub fn divides(&self) -> bool {
        match self.op {
            Op::IntegerToFloat { up, .. } => up,
            Op::MultiplyAdd { product: Product::High, .. } => true,
            Op::MultiplyAdd { product: Product::Wide, carried, .. } => carried,
            _ => false,
        }
    }

    /// What it is counted as.
    pub(crate) fn kind_of(&self) -> Kind {
        let uniform = self.destinations.iter().any(|destination| {
            matches!(destination, Destination::Uniform(_))
                || matches!(destination, Destination::Predicate(predicate) if predicate.uniform)
        });
        match self.op {
            Op::Arithmetic { precision: Precision::Single, .. } => Kind::Single,
            Op::Arithmetic { precision: Precision::Double, .. } => Kind::Double,
            Op::Arithmetic { .. } | Op::Numeric { .. } | Op::CompareFloats { .. } | Op::CheckDivision => {
                Kind::OtherFloat
            }
            Op::Function { .. } => Kind::Function,
            Op::FloatToFloat { .. } | Op::IntegerToFloat { .. } | Op::FloatToInteger { .. } => {
                Kind::Conversion
            }
            Op::Load { space, .. } => match space {
                Space::Global => Kind::GlobalLoad,
                Space::Shared => Kind::SharedLoad,
                Space::Local => Kind::Local,
            },
            Op::Store { space, .. } => match space {
                Space::Global => Kind::GlobalStore,
                Space::Shared => Kind::SharedStore,
                Space::Local => Kind::Local,
            },
            Op::CopyAsync { .. } | Op::CommitCopies | Op::WaitCopies => Kind::Copy,
            Op::Atomic { .. } => Kind::Atomic,
            Op::Barrier => Kind::Barrier,
            Op::Shuffle(_) | Op::Vote { .. } => Kind::Shuffle,
            Op::Branch
            | Op::BranchDivergent
            | Op::BranchIndirect
            | Op::Call
            | Op::Return
            | Op::Exit
            | Op::OpenRegion
            | Op::CloseRegion
            | Op::LeaveRegion
            | Op::WarpSync { .. }
            | Op::MoveBarrier { .. }
            | Op::Fence
            | Op::Nothing => Kind::Control,
            _ if uniform => Kind::Uniform,
            Op::MultiplyAdd { product: Product::Wide, .. } => Kind::WideMultiply,
            Op::PredicateLogic | Op::Compare { .. } => Kind::Predicate,
            Op::PredicatesToRegister | Op::RegisterToPredicates => Kind::Predicate,
            Op::Move | Op::Special { .. } | Op::LoadConstant { .. } | Op::HalfPair => Kind::Move,
            _ => Kind::Integer,
        }
    }
}
