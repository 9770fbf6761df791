//! The text of `nvdisasm`, as sections of instructions.
//!
//! ```text
//!         .target sm_90
//! .text.heat2d_phase0:
//!         /*0000*/                   LDC R1, c[0x0][0x28] ;
//! .L_x_385:
//!         /*0090*/               @P0 EXIT ;
//! ```
//!
//! Data of constant banks stands in sections `.nv.constantBANK.KERNEL`, as lines of bytes.

use crate::decode;
use crate::error::{Error, Result};
use crate::instruction::Instruction;
use std::collections::HashMap;

/// A whole listing.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Compute capability without the point, as in 90.
    pub architecture: u32,
    /// The kernels, by order of the listing.
    pub kernels: Vec<Code>,
}

/// The section of one kernel: its code, with the functions that it calls.
#[derive(Debug, Clone, Default)]
pub struct Code {
    /// Name of the kernel.
    pub name: String,
    /// Its instructions, by address.
    pub instructions: Vec<Instruction>,
    /// Bytes of constant banks, by bank, which come with the code.
    pub constants: HashMap<u32, Vec<u8>>,
    /// Bytes of an instruction.
    pub width: u32,
    /// The instructions that branch labels stand before.
    labels: HashMap<String, usize>,
}

impl Listing {
    /// Reads a listing.
    ///
    /// # Errors
    /// [`Error`] with the line of what is not understood.
    pub fn parse(text: &str) -> Result<Listing> {
        let mut listing = Listing::default();
        let mut constants: HashMap<String, HashMap<u32, Vec<u8>>> = HashMap::new();
        let mut section = Section::Other;
        for (number, line) in text.lines().enumerate() {
            let number = number + 1;
            let trimmed = line.trim();
            if let Some(target) = trimmed.strip_prefix(".target") {
                let digits: String = target.chars().filter(char::is_ascii_digit).take(4).collect();
                listing.architecture = digits.parse().unwrap_or(0);
            } else if let Some(rest) =
                trimmed.strip_prefix(".section").filter(|rest| rest.starts_with([' ', '\t']))
            {
                section = Section::of(rest);
                if let Section::Code(name) = &section {
                    listing.kernels.push(Code { name: name.clone(), width: 16, ..Code::default() });
                }
            } else if let Section::Code(_) = &section
                && let Some(code) = listing.kernels.last_mut()
            {
                code.line(number, trimmed)?;
            } else if let Section::Constants(bank, kernel) = &section
                && let Some((_, data)) = trimmed.split_once("*/")
            {
                let bytes = constants.entry(kernel.clone()).or_default().entry(*bank).or_default();
                data_line(data, bytes);
            }
        }
        for code in &mut listing.kernels {
            code.constants = constants.remove(&code.name).unwrap_or_default();
            code.resolve()?;
        }
        Ok(listing)
    }

    /// The code of a kernel.
    ///
    /// # Errors
    /// [`Error::Listing`] where there is none of this name.
    pub fn kernel(&self, name: &str) -> Result<&Code> {
        let found = self.kernels.iter().find(|code| code.name == name);
        found.ok_or_else(|| Error::Listing(format!("the listing has no kernel `{name}`")))
    }
}

/// What the lines between two headings are.
enum Section {
    Code(String),
    Constants(u32, String),
    Other,
}

impl Section {
    /// Of what follows `.section`.
    fn of(rest: &str) -> Section {
        let name = rest.trim().split(',').next().unwrap_or_default().trim();
        if let Some(kernel) = name.strip_prefix(".text.") {
            return Section::Code(kernel.to_owned());
        }
        let constant = name.strip_prefix(".nv.constant").and_then(|rest| rest.split_once('.'));
        match constant.and_then(|(bank, kernel)| Some((bank.parse().ok()?, kernel))) {
            Some((bank, kernel)) => Section::Constants(bank, kernel.to_owned()),
            None => Section::Other,
        }
    }
}

/// Appends the data of a line such as `.byte 0x90, 0x14` or `.word 0x00001490`.
fn data_line(data: &str, bytes: &mut Vec<u8>) {
    let data = data.trim();
    let (kind, values) = data.split_once(char::is_whitespace).unwrap_or((data, ""));
    let size = match kind {
        ".byte" => 1,
        ".short" => 2,
        ".word" => 4,
        ".dword" => 8,
        _ => return,
    };
    for value in values.split(',') {
        let digits = value.trim().trim_start_matches("0x");
        let Ok(value) = u64::from_str_radix(digits, 16) else { return };
        bytes.extend(value.to_le_bytes().iter().take(size));
    }
}

impl Code {
    /// One line of the section.
    fn line(&mut self, number: usize, line: &str) -> Result<()> {
        if let Some(label) = line.strip_suffix(':')
            && !label.contains(char::is_whitespace)
        {
            self.labels.insert(label.to_owned(), self.instructions.len());
            return Ok(());
        }
        let Some((address, text)) = line.strip_prefix("/*").and_then(|rest| rest.split_once("*/")) else {
            return Ok(());
        };
        let Ok(address) = u32::from_str_radix(address, 16) else { return Ok(()) };
        if text.trim_start().starts_with('.') || text.trim().is_empty() {
            return Ok(());
        }
        self.instructions.push(decode::instruction(number, address, text)?);
        Ok(())
    }

    /// Turns labels into numbers of instructions.
    fn resolve(&mut self) -> Result<()> {
        let addresses = self.instructions.iter().map(|instruction| instruction.address);
        let ascending = addresses.enumerate().all(|(at, address)| address == at as u32 * self.width);
        if !ascending {
            return Err(Error::Listing(format!(
                "the instructions of `{}` do not lie {} bytes apart",
                self.name, self.width
            )));
        }
        for instruction in &mut self.instructions {
            if let Some(label) = &instruction.label {
                let own = format!(".text.{label}");
                let target = self.labels.get(label.as_str()).or_else(|| self.labels.get(own.as_str()));
                instruction.target = target.copied();
            }
        }
        Ok(())
    }

    /// Bytes of the code.
    pub fn bytes(&self) -> u64 {
        self.instructions.len() as u64 * u64::from(self.width)
    }

    /// The instruction at this address of the section.
    pub fn at(&self, address: u64) -> Option<usize> {
        let index = usize::try_from(address / u64::from(self.width)).ok()?;
        (address.is_multiple_of(u64::from(self.width)) && index < self.instructions.len()).then_some(index)
    }
}
