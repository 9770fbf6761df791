//! Pictures to arrays and back, for `scripts/demo.sh`:
//!
//! ```text
//! tilewright-image to-npy PICTURE.png ARRAY.npy         grey values in [0, 1], f32, one row per line of the picture
//! tilewright-image to-png ARRAY.npy... PICTURE.png      arrays of one height side by side, values clamped to [0, 1]
//! ```

use execution::grid::{ValuesMut, ValuesRef};
use execution::{npy, output_file};
use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::ExitCode;
use toolchain::interrupt;

/// White columns between two arrays.
const GAP: usize = 8;

/// A grey picture; values from 0 (black) to 1 (white), line by line.
struct Picture {
    width: usize,
    height: usize,
    values: Vec<f32>,
}

fn main() -> ExitCode {
    interrupt::install(|code| std::process::exit(i32::from(code)));
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments.as_slice() {
        ["to-npy", from, to] => to_npy(Path::new(from), Path::new(to)),
        ["to-png", from @ .., to] if !from.is_empty() => to_png(from, Path::new(to)),
        _ => {
            Err("usage: tilewright-image to-npy PICTURE.png ARRAY.npy | to-png ARRAY.npy... PICTURE.png"
                .into())
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn to_npy(from: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    let picture = read_picture(from).map_err(|error| format!("{}: {error}", from.display()))?;
    npy::write(to, &[picture.height as u64, picture.width as u64], ValuesRef::F32(&picture.values))?;
    Ok(())
}

fn to_png(from: &[&str], to: &Path) -> Result<(), Box<dyn Error>> {
    let pictures = from.iter().map(|path| read_array(Path::new(path))).collect::<Result<Vec<_>, _>>()?;
    let height = pictures[0].height;
    if pictures.iter().any(|picture| picture.height != height) {
        return Err("the arrays have different heights".into());
    }
    let width = pictures.iter().map(|picture| picture.width + GAP).sum::<usize>() - GAP;
    let mut bytes = Vec::with_capacity(width * height);
    for line in 0..height {
        for (number, picture) in pictures.iter().enumerate() {
            let values = &picture.values[line * picture.width..][..picture.width];
            bytes.extend(std::iter::repeat_n(u8::MAX, if number > 0 { GAP } else { 0 }));
            bytes.extend(values.iter().map(|value| (value.clamp(0.0, 1.0) * 255.0).round() as u8));
        }
    }
    output_file::write(to, |file| {
        let mut encoder = png::Encoder::new(file, width as u32, height as u32);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&bytes)?;
        Ok(writer.finish()?)
    })?;
    Ok(())
}

fn read_array(path: &Path) -> Result<Picture, Box<dyn Error>> {
    let mut reader = npy::Reader::open(path)?;
    let &[height, width] = reader.header().shape.as_slice() else {
        return Err(format!("{}: the array is not two-dimensional", path.display()).into());
    };
    let (height, width) = (usize::try_from(height)?, usize::try_from(width)?);
    let mut values = vec![0.0; height.checked_mul(width).ok_or("the array is too large")?];
    reader.read_into(ValuesMut::F32(&mut values))?;
    Ok(Picture { width, height, values })
}

fn read_picture(path: &Path) -> Result<Picture, Box<dyn Error>> {
    let mut decoder = png::Decoder::new(BufReader::new(File::open(path)?));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info()?;
    let mut bytes = vec![0; reader.output_buffer_size().ok_or("the picture is too large")?];
    let info = reader.next_frame(&mut bytes)?;
    let samples = info.color_type.samples();
    let grey = |point: &[u8]| match point {
        // Luminance of ITU-R BT.709; alpha is ignored.
        [red, green, blue, ..] => {
            (0.2126 * f32::from(*red) + 0.7152 * f32::from(*green) + 0.0722 * f32::from(*blue)) / 255.0
        }
        [grey, ..] => f32::from(*grey) / 255.0,
        [] => 0.0,
    };
    let values = bytes[..info.buffer_size()].chunks_exact(samples).map(grey).collect();
    Ok(Picture { width: info.width as usize, height: info.height as usize, values })
}
