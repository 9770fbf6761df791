//! The loop of a proxy: a hundred places, `20 p` of which are of its kind at intensity `p`, the others integer arithmetic.

use ::adaptive::machines::proxies::{MOST_INTENSE, PROXIES};

/// Places in the loop.
const SLOTS: usize = 100;

/// How a language writes them.
pub struct Slots {
    /// The statement of this number that one instruction of integers does.
    pub integer: fn(usize) -> String,
    /// The statement of this number of a proxy, and how many instructions each of its statements is.
    pub own: fn(&str, usize) -> (String, usize),
}

impl Slots {
    /// The statements of a proxy at an intensity, the kinds mixed evenly.
    pub fn body(&self, proxy: &str, intensity: u8) -> String {
        let share = usize::from(intensity) * SLOTS / usize::from(MOST_INTENSE);
        let own = share / (self.own)(proxy, 0).1;
        let statements = own + SLOTS - share;
        // How many of its kind stand before a statement.
        let before = |statement: usize| statement * own / statements;
        let mut text = String::new();
        for at in 0..statements {
            let statement = match before(at + 1) > before(at) {
                true => (self.own)(proxy, before(at)).0,
                false => (self.integer)(at - before(at)),
            };
            text += &format!("        {statement}\n");
        }
        text
    }
}

/// All proxies at all intensities.
pub fn all() -> impl Iterator<Item = (&'static str, u8)> {
    PROXIES.iter().flat_map(|proxy| (0..=MOST_INTENSE).map(|intensity| (proxy.name, intensity)))
}

/// The function of a proxy at an intensity.
pub fn symbol(proxy: &str, intensity: u8) -> String {
    format!("{}_{intensity}", proxy.replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_places() {
        let pair = Slots { integer: |at| format!("i{at};"), own: |_, at| (format!("p{at};"), 2) };
        for intensity in 0..=MOST_INTENSE {
            let body = pair.body("mem-bw", intensity);
            let count = |first: char| body.lines().filter(|line| line.trim().starts_with(first)).count();
            let own = 2 * count('p');
            assert_eq!((own, own + count('i')), (20 * usize::from(intensity), SLOTS), "{body}");
        }
        assert_eq!(all().count(), 30);
        assert_eq!(symbol("sh-mem-bw", 3), "sh_mem_bw_3");
    }
}
