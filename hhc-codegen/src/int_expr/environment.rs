//! Values of variables, of which a place in a loop nest has a dozen: looked through one after another. Names are literals, most of
//! which are told apart or found equal by where they lie.

/// Values of variables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    values: Vec<(&'static str, i64)>,
}

fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && (std::ptr::eq(a, b) || a == b)
}

impl Environment {
    /// No variable has a value.
    pub fn new() -> Self {
        Environment::default()
    }

    /// The variable's value, if it has one.
    pub fn get(&self, name: &str) -> Option<i64> {
        self.values.iter().find(|(own, _)| same(own, name)).map(|own| own.1)
    }

    /// Gives a variable a value, another one where it has one.
    pub fn insert(&mut self, name: &'static str, value: i64) {
        match self.values.iter_mut().find(|(own, _)| same(own, name)) {
            Some(own) => own.1 = value,
            None => self.values.push((name, value)),
        }
    }

    /// Takes a variable's value away.
    pub fn remove(&mut self, name: &str) {
        self.values.retain(|(own, _)| !same(own, name));
    }
}

impl Extend<(&'static str, i64)> for Environment {
    fn extend<T: IntoIterator<Item = (&'static str, i64)>>(&mut self, values: T) {
        values.into_iter().for_each(|(name, value)| self.insert(name, value));
    }
}

impl FromIterator<(&'static str, i64)> for Environment {
    fn from_iter<T: IntoIterator<Item = (&'static str, i64)>>(values: T) -> Self {
        let mut environment = Environment::new();
        environment.extend(values);
        environment
    }
}

impl<const N: usize> From<[(&'static str, i64); N]> for Environment {
    fn from(values: [(&'static str, i64); N]) -> Self {
        values.into_iter().collect()
    }
}
