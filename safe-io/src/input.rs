//! Files from outside: never more bytes than a limit, also when unpacked, and no waiting for a pipe that nobody fills.

use flate2::read::MultiGzDecoder;
use rustix::event::{PollFd, PollFlags, poll};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a pipe or a terminal may be silent.
const PATIENCE: Duration = Duration::from_secs(10);

/// A file that is open for reading.
#[derive(Debug)]
pub struct Input {
    file: File,
    /// A pipe or a device, which is read without blocking.
    waits: bool,
}

/// Opens a file, a pipe or a device for reading.
///
/// # Errors
/// The system's reasons; a folder.
pub fn open(path: &Path) -> io::Result<Input> {
    // Without this flag a pipe that has no writer would be waited for in `open`.
    let flag = rustix::fs::OFlags::NONBLOCK.bits();
    let file = OpenOptions::new().read(true).custom_flags(flag as i32).open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(io::Error::new(ErrorKind::IsADirectory, "it is a folder; a file was expected"));
    }
    Ok(Input { waits: kind.is_fifo() || kind.is_char_device(), file })
}

impl Input {
    /// The system's file.
    pub fn file(&self) -> &File {
        &self.file
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.waits {
                wait(&self.file)?;
            }
            match self.file.read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                result => return result,
            }
        }
    }
}

/// Waits until there is something to read, or the writer has gone.
fn wait(file: &File) -> io::Result<()> {
    let start = Instant::now();
    loop {
        let timeout = PATIENCE.saturating_sub(start.elapsed()).try_into().ok();
        match poll(&mut [PollFd::new(file, PollFlags::IN)], timeout.as_ref()) {
            Ok(0) => {
                let text = format!("nothing came for {} s from what is no regular file", PATIENCE.as_secs());
                return Err(io::Error::new(ErrorKind::TimedOut, text));
            }
            Ok(_) => return Ok(()),
            // A signal is no end of the file.
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// The content of a file of at most `most` bytes.
///
/// # Errors
/// Those of [`open`]; a file that is larger, which is told without reading on.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    limited(open(path)?, most, "has")
}

/// As [`read`], of text in UTF-8, without the mark of the byte order that some programs write.
///
/// # Errors
/// As for [`read`]; other text.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    text(read(path, most)?)
}

/// As [`read`], unpacked where the file starts as gzip does; the limit is for what is unpacked.
///
/// # Errors
/// As for [`read`]; [`ErrorKind::InvalidData`] where the packed data are damaged.
pub fn read_unpacked(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut file = open(path)?;
    let mut start = Vec::new();
    file.by_ref().take(2).read_to_end(&mut start)?;
    let packed = start == [0x1f, 0x8b];
    let whole = io::Cursor::new(start).chain(io::BufReader::new(file));
    if !packed {
        return limited(whole, most, "has");
    }
    limited(MultiGzDecoder::new(whole), most, "unpacks to").map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge | ErrorKind::TimedOut => error,
        _ => io::Error::new(
            ErrorKind::InvalidData,
            format!("the gzip data are damaged ({error}); copy or pack the file again"),
        ),
    })
}

fn limited(from: impl Read, most: u64, has: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let text = format!("it {has} more than {}, which is the limit for such files", size(most));
        return Err(io::Error::new(ErrorKind::FileTooLarge, text));
    }
    Ok(bytes)
}

/// Bytes as UTF-8 text, without the mark of the byte order.
///
/// # Errors
/// Other text, with what it may be.
pub fn text(mut bytes: Vec<u8>) -> io::Result<String> {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    let utf16 = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        let what = if utf16 {
            "the text is UTF-16; save it as UTF-8".to_owned()
        } else {
            format!("the text is not UTF-8 (byte {})", place + 1)
        };
        io::Error::new(ErrorKind::InvalidData, what)
    })
}

/// A number of bytes in a unit that leaves a whole number.
pub fn size(bytes: u64) -> String {
    match bytes {
        bytes if bytes >= 1 << 30 && bytes % (1 << 30) == 0 => format!("{} GiB", bytes >> 30),
        bytes if bytes >= 1 << 20 && bytes % (1 << 20) == 0 => format!("{} MiB", bytes >> 20),
        bytes if bytes >= 1 << 10 && bytes % (1 << 10) == 0 => format!("{} KiB", bytes >> 10),
        bytes => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn limits_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, [b'x'; 1025]).unwrap();
        assert_eq!(read(&path, 1025).unwrap().len(), 1025);
        assert!(read(&path, 1024).unwrap_err().to_string().contains("more than 1 KiB"));
        assert!(read(Path::new("/dev/zero"), 1 << 20).unwrap_err().to_string().contains("more than 1 MiB"));
        assert!(read(folder.path(), 10).unwrap_err().to_string().contains("folder"));
    }

    #[test]
    fn packed_files_of_several_members_stop_at_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.gz");
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(&[b'x'; 1 << 16]).unwrap();
        let member = packer.finish().unwrap();
        std::fs::write(&path, member.repeat(20_000)).unwrap();
        let error = read_unpacked(&path, 1 << 20).unwrap_err().to_string();
        assert!(error.contains("unpacks to more than 1 MiB"), "{error}");
        std::fs::write(&path, member.repeat(2)).unwrap();
        assert_eq!(read_unpacked(&path, 1 << 20).unwrap().len(), 1 << 17);
        std::fs::write(&path, &member[..member.len() - 9]).unwrap();
        assert!(read_unpacked(&path, 1 << 20).unwrap_err().to_string().contains("damaged"));
    }

    #[test]
    fn a_pipe_is_read_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &path,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        let writer = {
            let path = path.clone();
            std::thread::spawn(move || {
                let mut pipe = OpenOptions::new().write(true).open(path).unwrap();
                pipe.write_all(b"one ").unwrap();
                std::thread::sleep(Duration::from_millis(50));
                pipe.write_all(b"two").unwrap();
            })
        };
        assert_eq!(read_text(&path, 100).unwrap(), "one two");
        writer.join().unwrap();
    }

    #[test]
    fn other_text_is_named() {
        assert!(text(b"\xff\xfea\0".to_vec()).unwrap_err().to_string().contains("UTF-16"));
        assert!(text(b"ab\xff".to_vec()).unwrap_err().to_string().contains("byte 3"));
        assert_eq!(text(b"\xef\xbb\xbfa".to_vec()).unwrap(), "a");
    }
}
