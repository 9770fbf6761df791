//! The host's side: the C entry points, which launch the kernels in order.

use super::super::arguments::{Arguments, Form};
use super::super::bounds::{expr, non_negative};
use super::super::points::{INT, min};
use super::around;
use super::kernel::CudaKernel;
use super::spare;
use super::text::passed;
use super::ways;
use crate::plan::KernelPlan;
use c_tree::{Block, Dialect, Expr, Function, Sort, Stmt, all, call, int, name, var};

/// Shared memory that a block has without asking.
const SHARED_BYTES_WITHOUT_ASKING: u32 = 48 << 10;

/// The entry points of a program.
pub(super) struct Host<'a> {
    pub(super) plan: &'a KernelPlan,
    pub(super) arguments: Arguments<'a>,
    pub(super) kernels: &'a [CudaKernel],
    pub(super) boundary: &'a [CudaKernel],
    pub(super) ways: &'a [Vec<i64>],
}

/// `(int)status`
fn status(name_of: &str) -> Stmt {
    Stmt::Return(Some(name(name_of).cast("int")))
}

/// Returns the status where it is an error.
fn give_up() -> Stmt {
    Stmt::when(name("status").is_not(name("cudaSuccess")), status("status"))
}

impl Host<'_> {
    fn name(&self) -> String {
        format!("{}_run_cuda", self.plan.program.name)
    }

    /// `NAME_run_cuda`, `NAME_run_cuda_strided`, without bodies.
    fn heads(&self) -> [Function; 2] {
        let head = |name: String, form| {
            self.arguments
                .declare(Function::new(name).result("int"), form)
                .parameter("cudaStream_t", "stream")
        };
        [head(self.name(), Form::Dense), head(format!("{}_strided", self.name()), Form::Strided)]
    }

    /// Their prototypes.
    pub(super) fn prototypes(&self) -> [String; 2] {
        self.heads().map(|head| head.prototype(Dialect::C))
    }

    /// The functions.
    pub(super) fn functions(&self) -> Vec<String> {
        let [dense, head_of_strided] = self.heads().map(|head| head.attribute("extern \"C\""));
        let launches = self.launches();
        let (band, strided) = if self.arguments.spare {
            (Some(self.band(launches)), spare::body(self.arguments))
        } else if self.arguments.program.is_periodic() {
            let band = self.arguments.declare(Function::new(around::BAND).result("int"), Form::Strided);
            let band = band.parameter("cudaStream_t", "stream").attribute("static");
            let band = band.comment("A band of time steps on a grid with ghost zones.").body(launches);
            (Some(band), around::body(self.arguments))
        } else {
            (None, launches)
        };
        let strided = self.checked().into_iter().chain(strided).collect::<Block>();
        let all = band.into_iter().chain([head_of_strided.body(strided), dense.body(self.dense())]);
        all.map(|function| function.print(Dialect::Cuda)).collect()
    }

    /// The launches, with the spare slots as further arguments.
    fn band(&self, launches: Block) -> Function {
        let band = self.arguments.declare(Function::new(spare::BAND).result("int"), Form::Strided);
        let band = band.parameters(spare::parameters(self.arguments));
        let band = band.parameter("cudaStream_t", "stream").attribute("static");
        band.comment("All time steps, with spare slots for levels that other blocks still read.")
            .body(launches)
    }

    fn refused(&self) -> [Stmt; 2] {
        let negative = self.arguments.negative().or(var("steps").gt(var("TW_MOST_STEPS")));
        let nothing = self.arguments.empty().or(var("steps").is(0));
        [Stmt::when(negative, status("cudaErrorInvalidValue")), Stmt::when(nothing, status("cudaSuccess"))]
    }

    /// Refuses what is not a grid.
    fn checked(&self) -> Block {
        let arguments = self.arguments;
        let refuse = |condition: Expr| Stmt::when(condition, status("cudaErrorInvalidValue"));
        let mut body = Block::from(self.refused());
        let elements = var("tw_elements");
        let sizes = arguments.sizes();
        body.push(Stmt::declare(INT, "tw_elements", var(&sizes[sizes.len() - 1])));
        body.push(refuse(elements.clone().gt(var("TW_MOST"))));
        let mut strides: Vec<(Expr, String)> = sizes.iter().map(var).zip(arguments.strides()).collect();
        strides.reverse();
        if arguments.has_slots() {
            strides.push((int(1), "level_stride".to_string()));
        }
        body.extend(strides.into_iter().map(|(count, stride)| {
            refuse(!call("tw_enclose", [elements.clone().address(), count, var(stride)]))
        }));
        let usable = arguments.arrays().into_iter().map(|array| {
            let array = name(array.name);
            Expr::call("tw_usable", [array.clone(), array.deref().size_of()], Sort::Truth)
        });
        body.push(Stmt::constant("bool", "tw_all_usable", all(usable)));
        body.push(refuse(!name("tw_all_usable")));
        body
    }

    /// Queues the kernels of all time steps, in order.
    fn launches(&self) -> Block {
        let arguments = self.arguments;
        let mut body = Block::from(Stmt::declare("cudaError_t", "status", name("cudaSuccess")));
        for kernel in self.kernels.iter().filter(|kernel| kernel.shared_bytes > SHARED_BYTES_WITHOUT_ASKING) {
            let attribute = name("cudaFuncAttributeMaxDynamicSharedMemorySize");
            let ask = [name(&kernel.symbol), attribute, int(kernel.shared_bytes.into())];
            body.push(Stmt::assign(name("status"), call("cudaFuncSetAttribute", ask)));
            body.push(give_up());
        }
        for kernel in self.boundary {
            body.comment("the fixed boundary, at every stored level");
            body.push(Stmt::Block(self.launch(kernel, int(0))));
        }
        if let Some(small) = arguments.too_small() {
            body.push(Stmt::when(small, status("status")));
        }
        if !self.ways.is_empty() {
            body.push(ways::declaration(self.ways));
        }
        for copy in spare::copies(self.arguments) {
            body.push(copy);
            body.push(give_up());
        }
        let outer = &self.plan.outer;
        let mut launches = Block::new();
        for launch in &self.plan.launches {
            launches.comment(&self.plan.kernels[launch.kernel].comment);
            let queue = self.launch(&self.kernels[launch.kernel], var(outer.variable));
            launches.push(match &launch.when {
                Some(condition) => Stmt::when(non_negative(condition), queue),
                None => Stmt::Block(queue),
            });
        }
        body.push(Stmt::range(INT, outer.variable, expr(&outer.low), expr(&outer.high), launches));
        body.push(status("status"));
        body
    }

    /// The launches of a kernel for one value of the host variable.
    fn launch(&self, kernel: &CudaKernel, host_value: Expr) -> Block {
        let axes = [("x", i64::from(i32::MAX)), ("y", 65_535), ("z", 65_535)];
        let blocks: Vec<_> = kernel.blocks.iter().rev().zip(axes).collect();
        let grid = match blocks.len() {
            0 => vec![int(1)],
            count => axes[..count].iter().map(|(axis, _)| var(format!("blocks_{axis}"))).collect(),
        };
        let threads = kernel.threads.map(|count| int(count.into()));
        let configuration =
            vec![call("dim3", grid), call("dim3", threads), int(kernel.shared_bytes.into()), name("stream")];
        let first = kernel.blocks.iter().map(|block| var(block.variable));
        let arguments = passed(self.arguments).into_iter().chain([host_value]).chain(first);
        let arguments = arguments.chain(kernel.takes_ways.then(ways::argument)).collect();
        let launch = Block::from([
            Stmt::Expr(Expr::Launch { kernel: kernel.symbol.clone(), configuration, arguments }),
            Stmt::assign(name("status"), call("cudaGetLastError", [])),
            give_up(),
        ]);
        // The last loop is along x, and innermost.
        blocks.into_iter().fold(launch, |inner, (block, (axis, most))| {
            let of = |end: &str| format!("{}_{end}", block.variable);
            let (variable, high) = (var(block.variable), var(of("high")));
            let count = min(high.clone(), &variable + (most - 1)) - &variable + 1;
            let mut body = Block::from(Stmt::constant(
                "unsigned int",
                format!("blocks_{axis}"),
                count.cast("unsigned int"),
            ));
            body.extend(inner);
            let ends = [(of("low"), expr(&block.low)), (of("high"), expr(&block.high))];
            let mut all =
                Block::from(Stmt::Comment(format!("a launch has at most {most} blocks along {axis}")));
            all.push(Stmt::constants(INT, ends));
            let condition = variable.le(high);
            all.push(Stmt::each(INT, block.variable, var(of("low")), condition, most, body));
            all
        })
    }

    fn dense(&self) -> Block {
        let mut body = Block::from(self.refused());
        body.comment("The strides must not overflow before they are checked.");
        let many = self.arguments.points_at_most().gt(var("TW_MOST"));
        body.push(Stmt::when(many, status("cudaErrorInvalidValue")));
        let strides = self.arguments.dense_strides().into_iter().chain([self.arguments.points()]);
        let all = self.arguments.pass(strides).into_iter().chain([name("stream")]);
        body.push(Stmt::Return(Some(call(format!("{}_strided", self.name()), all))));
        body
    }
}
