//! Arrays are copied to a device, there, and back.

use super::arrays::{Bands, DeviceArray, DeviceData, spare_fields};
use super::program::CudaProgramOnDevice;
use crate::around::Around;
use crate::error::{ExecutionError, Result};
use crate::grid::{ProgramData, ValuesMut, ValuesRef};
use crate::initial::prepare_boundary;
use polyhedral::program::{FieldId, SeriesId};

impl CudaProgramOnDevice {
    /// Copies `data` to the device; their boundary is prepared first.
    ///
    /// # Errors
    /// [`ExecutionError::WrongData`]; [`ExecutionError::OutOfMemory`] where the device has too little memory;
    /// [`toolchain::Error::Device`].
    pub fn upload(&self, data: &mut ProgramData) -> Result<DeviceData> {
        prepare_boundary(&self.plan.program, data)?;
        let free = self.device.free_memory()?;
        let spare = spare_fields(&self.plan);
        let of_field = |values: ValuesRef<'_>| (values.len() * values.element().bytes()) as u64;
        let more: u64 = spare.iter().map(|&field| of_field(data.fields()[field].values.view())).sum();
        if data.bytes() + more > free {
            return Err(ExecutionError::OutOfMemory {
                bytes: (data.bytes() + more).into(),
                available: Some(free.into()),
            });
        }
        let copy = |values: ValuesRef<'_>| self.copied(values);
        if let Some(around) = Around::of(&self.plan, data.size())? {
            let wide = around.widen(data)?;
            let arrays = wide.fields().iter().map(|field| copy(field.values.view()));
            return Ok(DeviceData {
                arrays: arrays.collect::<toolchain::Result<_>>()?,
                series: Vec::new(),
                spare: Vec::new(),
                layout: data.layout().clone(),
                around: Some(Box::new(Bands { around, wide, given: data.try_clone()?, steps: 0 })),
            });
        }
        let arrays = data.fields().iter().map(|field| copy(field.values.view()));
        let spare = spare.iter().map(|&field| copy(data.fields()[field].values.view()));
        let series = (0..self.plan.program.series.len()).map(|number| copy(data.series(SeriesId(number))));
        Ok(DeviceData {
            around: None,
            arrays: arrays.collect::<toolchain::Result<_>>()?,
            series: series.collect::<toolchain::Result<_>>()?,
            spare: spare.collect::<toolchain::Result<_>>()?,
            layout: data.layout().clone(),
        })
    }

    /// Copies the initial levels of `data` to the device once more, for another run.
    ///
    /// # Errors
    /// [`toolchain::Error::Device`]; [`ExecutionError::WrongData`] for data in another layout.
    pub fn refill(&self, data: &ProgramData, on_device: &mut DeviceData) -> Result<()> {
        self.check(data, on_device)?;
        match &mut on_device.around {
            None => self.refill_arrays(data, &mut on_device.arrays),
            Some(bands) => {
                bands.around.refill(data, &mut bands.wide);
                bands.steps = 0;
                self.refill_arrays(&bands.wide, &mut on_device.arrays)
            }
        }
    }

    pub(super) fn refill_arrays(&self, data: &ProgramData, arrays: &mut [DeviceArray]) -> Result<()> {
        let device = &self.device;
        for (field, array) in data.fields().iter().zip(arrays) {
            let copied = match (field.values.view(), array) {
                (ValuesRef::F32(from), DeviceArray::F32(to)) => device.refill(from, to),
                (ValuesRef::F64(from), DeviceArray::F64(to)) => device.refill(from, to),
                _ => return Err(self.wrong_data("the element types differ")),
            };
            copied.map_err(|failure| failure.during("copy the grid to the device"))?;
        }
        Ok(())
    }

    /// A second copy of the arrays on the device, to start from again; `None` where it has no memory for one.
    ///
    /// # Errors
    /// [`toolchain::Error::Device`].
    pub fn duplicate(&self, on_device: &DeviceData) -> Result<Option<DeviceData>> {
        if on_device.bytes() > self.device.free_memory()? {
            return Ok(None);
        }
        let device = &self.device;
        let copy = |array: &DeviceArray| {
            let copied = match array {
                DeviceArray::F32(array) => device.duplicate(array).map(DeviceArray::F32),
                DeviceArray::F64(array) => device.duplicate(array).map(DeviceArray::F64),
            };
            copied.map_err(|failure| failure.during("copy the grid on the device"))
        };
        Ok(Some(DeviceData {
            arrays: on_device.arrays.iter().map(copy).collect::<toolchain::Result<_>>()?,
            series: on_device.series.iter().map(copy).collect::<toolchain::Result<_>>()?,
            layout: on_device.layout.clone(),
            spare: Vec::new(),
            // To be restored from, not to run.
            around: None,
        }))
    }

    /// Copies the fields of `from` over those of `to`, on the device.
    ///
    /// # Errors
    /// [`toolchain::Error::Device`]; [`ExecutionError::WrongData`] for data in another layout.
    pub fn restore(&self, from: &DeviceData, to: &mut DeviceData) -> Result<()> {
        if from.layout != to.layout {
            return Err(self.wrong_data("the layouts differ"));
        }
        for (from, to) in from.arrays.iter().zip(&mut to.arrays) {
            self.copy_array(from, to)?;
        }
        if let Some(bands) = &mut to.around {
            bands.steps = 0;
        }
        Ok(())
    }

    /// Copies an array over another one.
    pub(super) fn copy_array(&self, from: &DeviceArray, to: &mut DeviceArray) -> Result<()> {
        let copied = match (from, to) {
            (DeviceArray::F32(from), DeviceArray::F32(to)) => self.device.copy(from, to),
            (DeviceArray::F64(from), DeviceArray::F64(to)) => self.device.copy(from, to),
            _ => return Err(self.wrong_data("the element types differ")),
        };
        Ok(copied.map_err(|failure| failure.during("copy the grid on the device"))?)
    }

    /// Copies all arrays back.
    ///
    /// # Errors
    /// As for [`CudaProgramOnDevice::refill`].
    pub fn download(&self, on_device: &DeviceData, data: &mut ProgramData) -> Result<()> {
        self.check(data, on_device)?;
        let Some(bands) = &on_device.around else { return self.download_arrays(&on_device.arrays, data) };
        let mut wide = bands.wide.try_clone()?;
        self.download_arrays(&on_device.arrays, &mut wide)?;
        bands.around.narrow(&wide, data, bands.steps);
        Ok(())
    }

    pub(super) fn download_arrays(&self, arrays: &[DeviceArray], data: &mut ProgramData) -> Result<()> {
        let device = &self.device;
        for (number, array) in arrays.iter().enumerate() {
            let copied = match (array, data.values_mut(FieldId(number))) {
                (DeviceArray::F32(from), ValuesMut::F32(to)) => device.download(from, to),
                (DeviceArray::F64(from), ValuesMut::F64(to)) => device.download(from, to),
                _ => return Err(self.wrong_data("the element types differ")),
            };
            copied.map_err(|failure| failure.during("copy the grid from the device"))?;
        }
        Ok(device.finish().map_err(|failure| failure.during("copy the grid from the device"))?)
    }

    fn check(&self, data: &ProgramData, on_device: &DeviceData) -> Result<()> {
        data.check(&self.plan.program)?;
        if *data.layout() == on_device.layout { Ok(()) } else { Err(self.wrong_data("the layouts differ")) }
    }

    pub(super) fn copied(&self, values: ValuesRef<'_>) -> toolchain::Result<DeviceArray> {
        let copied = match values {
            ValuesRef::F32(values) => self.device.upload(values).map(DeviceArray::F32),
            ValuesRef::F64(values) => self.device.upload(values).map(DeviceArray::F64),
        };
        copied.map_err(|failure| failure.during("copy the grid to the device"))
    }
}
