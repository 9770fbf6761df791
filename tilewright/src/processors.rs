//! How the processors of a computer are shared out among its ranks. Launchers bind ranks to processors, each to some of its own, or all to the same.

/// The processors of a computer as a rank sees them.
pub struct Processors {
    /// Of each that a rank of the computer may use, whether this one may, and how many may.
    pub used: Vec<(bool, usize)>,
    /// How many this process may use, or how much of their time all ranks together.
    pub cores: usize,
    /// Ranks of the computer.
    pub ranks: usize,
}

impl Processors {
    /// Processors that this rank may use, where they are all it may use.
    fn own(&self) -> Option<impl Iterator<Item = usize>> {
        let own = || self.used.iter().filter(|(own, _)| *own).map(|&(_, users)| users);
        // With fewer than there are, what is limited is the time of all ranks together.
        (own().next().is_some() && self.cores >= own().count()).then(own)
    }

    /// Threads of this rank where nobody says how many: its processors, each shared out among those who may use it.
    pub fn share(&self) -> usize {
        let share = match self.own() {
            Some(own) => (own.map(|users| 1.0 / users as f64).sum::<f64>() + 1e-6) as usize,
            None => self.cores / self.ranks.max(1),
        };
        share.max(1)
    }

    /// Whether there is one for each of so many threads of all ranks.
    pub fn suffice(&self, threads: usize) -> bool {
        threads <= if self.own().is_some() { self.used.len() } else { self.cores }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_shared_out_among_those_who_may_use_them() {
        let of = |used: &[(bool, usize)], cores: usize, ranks: usize| {
            let all = Processors { used: used.to_vec(), cores, ranks };
            (all.share(), all.suffice(8), all.suffice(9))
        };
        // Not bound.
        assert_eq!(of(&[(true, 2); 8], 8, 2), (4, true, false));
        assert_eq!(of(&[(true, 3); 8], 8, 3), (2, true, false));
        // Each to half of them, which are its own.
        let halves = [[(true, 1); 4], [(false, 1); 4]].concat();
        assert_eq!(of(&halves, 4, 2), (4, true, false));
        // Four ranks on two sockets.
        let sockets = [[(true, 2); 4], [(false, 2); 4]].concat();
        assert_eq!(of(&sockets, 4, 4), (2, true, false));
        // More ranks than processors.
        assert_eq!(of(&[(true, 20); 8], 8, 20), (1, true, false));
        // A container that may use the time of four of them, and a system that says nothing.
        assert_eq!(of(&[(true, 2); 8], 4, 2), (2, false, false));
        assert_eq!(of(&[], 8, 2), (4, true, false));
    }
}
