//! Zeroed memory for large arrays, on huge pages where the system has them.
//!
//! A sweep over a grid touches every page; with 4 KiB pages address translation then costs more than the
//! arithmetic. Arrays of at least one huge page are therefore mapped anonymously, start on a huge-page
//! boundary and ask for huge pages. The pages are given at the first touch, so that the thread that
//! initialises a part also gets it near to itself. Smaller arrays start at a cache line.

use crate::element::Element;
use crate::error::{ExecutionError, Result};
use crate::layout::LINE;
use memmap2::MmapMut;

/// Size of a huge page in bytes, the same on x86-64 and (with 4 KiB base pages) AArch64.
const HUGE_PAGE: usize = 2 << 20;

/// A fixed-length zero-initialised array of one element type.
#[derive(Debug)]
pub struct Buffer<T> {
    storage: Storage<T>,
}

#[derive(Debug)]
enum Storage<T> {
    /// From element `start` on.
    Heap { values: Vec<T>, start: usize, length: usize },
    /// From byte `start` on.
    Mapped { map: MmapMut, start: usize, bytes: usize },
}

impl<T: Element> Buffer<T> {
    /// `length` elements, all 0.
    ///
    /// # Errors
    /// [`ExecutionError::OutOfMemory`] where the system does not give the memory.
    pub fn zeroed(length: usize) -> Result<Self> {
        Buffer::zeroed_at(length, 0)
    }

    /// `length` elements, all 0, from byte `offset` of a huge page on, in whole lines. Small arrays start at
    /// some line.
    ///
    /// # Errors
    /// [`ExecutionError::OutOfMemory`] where the system does not give the memory.
    pub fn zeroed_at(length: usize, offset: usize) -> Result<Self> {
        let offset = offset % HUGE_PAGE / LINE * LINE;
        let bytes = length.checked_mul(size_of::<T>()).ok_or_else(|| out_of_memory(length))?;
        let storage = if bytes < HUGE_PAGE {
            let values = vec![T::zeroed(); length + LINE / size_of::<T>()];
            let start = values.as_ptr().align_offset(LINE).min(LINE / size_of::<T>());
            Storage::Heap { values, start, length }
        } else {
            let whole = bytes.checked_add(HUGE_PAGE + offset).ok_or_else(|| out_of_memory(bytes))?;
            let map = MmapMut::map_anon(whole).map_err(|_| out_of_memory(bytes))?;
            let start = map.as_ptr().align_offset(HUGE_PAGE).min(HUGE_PAGE) + offset;
            // Advice only: a kernel without transparent huge pages refuses, and nothing else changes.
            #[cfg(target_os = "linux")]
            let _ = map.advise(memmap2::Advice::HugePage);
            Storage::Mapped { map, start, bytes }
        };
        Ok(Buffer { storage })
    }

    /// The elements.
    pub fn as_slice(&self) -> &[T] {
        match &self.storage {
            Storage::Heap { values, start, length } => &values[*start..*start + *length],
            Storage::Mapped { map, start, bytes } => bytemuck::cast_slice(&map[*start..*start + *bytes]),
        }
    }

    /// The elements, to be changed.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        match &mut self.storage {
            Storage::Heap { values, start, length } => &mut values[*start..*start + *length],
            Storage::Mapped { map, start, bytes } => {
                bytemuck::cast_slice_mut(&mut map[*start..*start + *bytes])
            }
        }
    }
}

fn out_of_memory(bytes: usize) -> ExecutionError {
    ExecutionError::OutOfMemory { bytes: bytes as u128, available: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_buffers_are_zero_and_writable() {
        for length in [0, 1, 1000, (3 << 20) / 4 + 7] {
            let mut buffer = Buffer::<f32>::zeroed(length).unwrap();
            assert_eq!(buffer.as_slice().as_ptr() as usize % LINE, 0);
            assert_eq!(buffer.as_slice().len(), length);
            assert!(buffer.as_slice().iter().all(|&value| value == 0.0));
            buffer.as_mut_slice().fill(1.5);
            assert!(buffer.as_slice().iter().all(|&value| value == 1.5));
        }
        let large = Buffer::<f64>::zeroed(1 << 20).unwrap();
        assert_eq!(large.as_slice().as_ptr() as usize % HUGE_PAGE, 0);
        let shifted = Buffer::<f64>::zeroed_at(1 << 20, 3 * LINE + 1).unwrap();
        assert_eq!(shifted.as_slice().as_ptr() as usize % HUGE_PAGE, 3 * LINE);
        assert_eq!(shifted.as_slice().len(), 1 << 20);
    }

    #[test]
    fn impossible_sizes_are_an_error() {
        assert!(matches!(Buffer::<f64>::zeroed(usize::MAX / 2), Err(ExecutionError::OutOfMemory { .. })));
        assert!(matches!(Buffer::<f64>::zeroed(usize::MAX / 16), Err(ExecutionError::OutOfMemory { .. })));
    }
}
