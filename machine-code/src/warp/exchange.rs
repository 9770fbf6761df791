//! What lanes get from memory and from each other, and barriers of lanes.

#![expect(clippy::needless_range_loop, reason = "a lane is a place in several arrays at once")]

use super::state::{Mask, Value, Warp, fail};
use crate::error::Result;
use crate::instruction::{Destination, Exchange, Instruction, LANES, Op, Source, Space, Special};

impl Warp<'_> {
    /// Reads and writes memory: values only of the thread's own.
    pub(super) fn access(&mut self, instruction: &Instruction, mask: Mask) -> Result<Option<[u64; LANES]>> {
        let mut places = instruction.sources.iter().filter_map(|source| match source {
            Source::Memory(address) => Some(address),
            _ => None,
        });
        // A copy names where to first.
        let place = match instruction.op {
            Op::CopyAsync { .. } => places.nth(1),
            _ => places.next(),
        };
        let Some(place) = place else { return Err(fail(instruction, "it names no place in memory")) };
        let addresses = self.address(instruction, place, mask)?;
        match instruction.op {
            Op::Load { space: Space::Local, bytes, .. } => {
                for word in 0..u32::from(bytes).div_ceil(4) {
                    let (mut lanes, mut data) = ([0; LANES], 0);
                    for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
                        let kept = self.local.get(&(addresses[lane] as u32 / 4 + word));
                        lanes[lane] = kept.map_or(0, |kept| kept.0[lane]);
                        data |= kept.map_or(0, |kept| kept.1 & 1 << lane);
                    }
                    self.put_word(instruction, word as u8, lanes, data, mask);
                }
            }
            Op::Store { space: Space::Local, bytes } => {
                for word in 0..u32::from(bytes).div_ceil(4) {
                    let value = self.stored(instruction, word as u8)?;
                    for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
                        let place = addresses[lane] as u32 / 4 + word;
                        let kept = self.local.entry(place).or_insert(([0; LANES], 0));
                        kept.0[lane] = value.0[lane];
                        kept.1 = kept.1 & !(1 << lane) | value.1 & 1 << lane;
                    }
                }
            }
            // What was there before: reductions want to know nothing.
            Op::Atomic { .. } if instruction.destinations.is_empty() => {}
            Op::Load { bytes, .. } | Op::Atomic { bytes, .. } => {
                for word in 0..bytes.div_ceil(4) {
                    let value = self.launch.element[usize::from(word) % 2];
                    self.put_word(instruction, word, [value; LANES], Mask::MAX, mask);
                }
            }
            _ => {}
        }
        Ok(Some(addresses))
    }

    /// A word of what is stored.
    fn stored(&self, instruction: &Instruction, word: u8) -> Result<Value> {
        let number = instruction.sources.iter().position(|source| !matches!(source, Source::Memory(_)));
        self.word(instruction, number.unwrap_or(usize::MAX), word)
    }

    pub(super) fn shuffle(
        &mut self,
        instruction: &Instruction,
        exchange: Exchange,
        mask: Mask,
    ) -> Result<()> {
        let (value, distance, clamp) =
            (self.source(instruction, 0)?, self.source(instruction, 1)?, self.source(instruction, 2)?);
        let (mut lanes, mut data, mut inside) = ([0; LANES], distance.1 | clamp.1, 0);
        for lane in 0..LANES {
            // Segments of a warp: the fixed bits of the number, and the last or first lane that can be named.
            let (fixed, bound) = ((clamp.0[lane] >> 8 & 31) as usize, (clamp.0[lane] & 31) as usize);
            let limit = lane & fixed | bound & !fixed;
            let by = (distance.0[lane] & 31) as usize;
            let (from, valid) = match exchange {
                Exchange::Index => {
                    let from = lane & fixed | by & !fixed;
                    (from, from <= limit)
                }
                Exchange::Up => (lane.wrapping_sub(by), lane as i64 - by as i64 >= limit as i64),
                Exchange::Down => (lane + by, lane + by <= limit),
                Exchange::Butterfly => (lane ^ by, lane ^ by <= limit),
            };
            let from = if valid { from } else { lane };
            lanes[lane] = value.0[from];
            data |= (value.1 >> from & 1) << lane;
            inside |= Mask::from(valid) << lane;
        }
        self.put(instruction, &[lanes], data, mask);
        self.put_predicate(instruction, 0, inside, 0, mask);
        Ok(())
    }

    pub(super) fn move_barrier(&mut self, instruction: &Instruction, clear: bool, mask: Mask) -> Result<()> {
        match (instruction.destinations.first(), instruction.sources.first()) {
            (Some(Destination::Barrier(to)), _) => {
                let value = self.source(instruction, 0)?.0;
                for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
                    self.regions[usize::from(*to)][lane] = value[lane];
                }
            }
            (_, Some(Source::Barrier(from))) => {
                let from = usize::from(*from);
                self.put(instruction, &[self.regions[from]], 0, mask);
                if clear {
                    for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
                        self.regions[from][lane] = 0;
                    }
                }
            }
            _ => return Err(fail(instruction, "it names no barrier")),
        }
        Ok(())
    }

    /// A register that says where the lane is and with whom.
    pub(super) fn special(&mut self, instruction: &Instruction, words: u8, mask: Mask) -> Result<()> {
        let Some(Source::Special(special)) = instruction.sources.first() else {
            return Err(fail(instruction, "it names no special register"));
        };
        let lanes = match *special {
            Special::Thread(axis) => self.threads[axis],
            Special::Block(axis) => [self.block[axis]; LANES],
            Special::Lane => std::array::from_fn(|lane| lane as u32),
            Special::Zero => [0; LANES],
            Special::ActiveMask => [mask; LANES],
            Special::LanesBelow => std::array::from_fn(|lane| (1u32 << lane) - 1),
        };
        self.put(instruction, &[lanes, [0; LANES]][..usize::from(words)], 0, mask);
        Ok(())
    }

    /// Words of a constant bank.
    pub(super) fn load_constant(&mut self, instruction: &Instruction, words: u8, mask: Mask) -> Result<()> {
        let mut loaded = [[0; LANES]; 4];
        for (word, lanes) in (0..words).zip(&mut loaded) {
            self.fill(instruction, 0, word, lanes)?;
        }
        self.put(instruction, &loaded[..usize::from(words)], 0, mask);
        Ok(())
    }
}
