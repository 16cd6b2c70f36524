//! A class as a table, and the index that finds a method's function in it.

use super::{Class, Method};
use crate::dialect::Dialect;
use crate::model::abrupt::Run;
use crate::model::machine::Machine;
use crate::model::tree::Type;
use crate::model::value::Value;
use std::ptr;
use std::rc::Rc;
use std::sync::OnceLock;

/// The function behind a method: its receiver, for a static method the class, and its arguments, as many as the row takes.
pub(crate) type Native = fn(&mut Machine<'_>, &Value, &[Value]) -> Run;

/// A method of a class.
#[derive(Clone, Copy)]
pub(crate) struct ClassRow {
    name: &'static str,
    least: u8,
    most: u8,
    run: Option<Native>,
    /// Why it is listed before the run: it does not run as in JMeter.
    listed: Option<&'static str>,
    gives: Option<&'static Kind>,
}

/// For a row that takes any number of arguments.
pub(crate) const MANY: u8 = u8::MAX;

/// A method of so many arguments.
pub(crate) const fn row(name: &'static str, takes: u8, run: Native) -> ClassRow {
    rows(name, takes, takes, run)
}

/// A method of at least and at most so many arguments.
pub(crate) const fn rows(name: &'static str, least: u8, most: u8, run: Native) -> ClassRow {
    ClassRow { name, least, most, run: Some(run), listed: None, gives: None }
}

/// A method that runs in JMeter and not here: why.
pub(crate) const fn listed(name: &'static str, reason: &'static str) -> ClassRow {
    ClassRow { name, least: 0, most: MANY, run: None, listed: Some(reason), gives: None }
}

/// The same method, listed before the run where the class of its receiver is certain.
pub(crate) const fn partly(row: ClassRow, reason: &'static str) -> ClassRow {
    ClassRow { listed: Some(reason), ..row }
}

/// The same method, which always gives a value of a class.
pub(crate) const fn gives(row: ClassRow, kind: &'static Kind) -> ClassRow {
    ClassRow { gives: Some(kind), ..row }
}

impl ClassRow {
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// The class of what it gives, where that is certain.
    #[cfg(test)]
    pub(crate) fn given(&self) -> Option<&'static Kind> {
        self.gives
    }

    pub(crate) fn takes(&self, args: usize) -> bool {
        args >= usize::from(self.least) && (self.most == MANY || args <= usize::from(self.most))
    }
}

/// Creation of an object: the class, and the arguments of `new`.
pub(crate) type Create = fn(&mut Machine<'_>, &'static Kind, &[Value]) -> Run;

/// Another value that a value passes calls on to, and its class.
#[derive(Clone, Copy)]
pub(crate) struct Stand {
    pub kind: &'static Kind,
    pub value: fn(&mut Machine<'_>, &Value) -> Run,
}

/// Conversion by `value as T` where T is no type that values are converted to.
pub(crate) type Cast = fn(&mut Machine<'_>, Value) -> Run;

/// Elements that a loop over a part of the outside world sees.
type Elements = fn(&mut Machine<'_>) -> Run<Vec<Value>>;
/// The property of a name; `None` where there is none beside its methods.
type Property = fn(&mut Machine<'_>, &Rc<str>) -> Option<Run>;
/// Gives the property of a name a value.
type SetProperty = fn(&mut Machine<'_>, &Rc<str>, &Value) -> Option<Run<()>>;
/// The text of a part of the outside world.
type Text = fn(&mut Machine<'_>) -> Run<Rc<str>>;

/// How a part of the outside world is seen beside its methods.
#[derive(Clone, Copy)]
pub(crate) struct ClassView {
    pub items: Option<Elements>,
    pub property: Option<Property>,
    pub set_property: Option<SetProperty>,
    /// Without one it is the name of its class.
    pub text: Option<Text>,
}

impl ClassView {
    /// By nothing but its methods.
    pub const NONE: ClassView = ClassView { items: None, property: None, set_property: None, text: None };
}

/// Knowledge of a method before the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Knowledge {
    /// It runs; what it gives is of this class where that is certain.
    Runs(Option<Class>),
    /// It does not run here, for this reason.
    Listed(&'static str),
    /// It runs, but not with so many arguments.
    OtherCount,
    /// There is no such method.
    Unknown,
}

/// A class of Java's, Groovy's, JavaScript's or JMeter's, as far as scripts use it.
pub struct Kind {
    package: &'static str,
    name: &'static str,
    parent: Option<&'static Kind>,
    create: Option<Create>,
    constant: fn(&str) -> Option<Value>,
    statics: &'static [ClassRow],
    methods: &'static [ClassRow],
    javascript: &'static [ClassRow],
    mixed: Option<&'static Kind>,
    stand: Option<Stand>,
    converts: Option<fn() -> Type>,
    cast: Option<Cast>,
    view: ClassView,
    /// Why a method that is in no row does not run.
    absent: fn(&str) -> Option<&'static str>,
    of_class: OnceLock<Index>,
    of_objects: OnceLock<Index>,
    of_objects_in_javascript: OnceLock<Index>,
}

impl Kind {
    /// A class without methods.
    pub(crate) const fn new(package: &'static str, name: &'static str) -> Kind {
        Kind {
            package,
            name,
            parent: None,
            create: None,
            constant: |_| None,
            statics: &[],
            methods: &[],
            javascript: &[],
            mixed: None,
            stand: None,
            converts: None,
            cast: None,
            view: ClassView::NONE,
            absent: |_| None,
            of_class: OnceLock::new(),
            of_objects: OnceLock::new(),
            of_objects_in_javascript: OnceLock::new(),
        }
    }

    /// The class whose methods it has as well.
    pub(crate) const fn extends(mut self, parent: &'static Kind) -> Kind {
        self.parent = Some(parent);
        self
    }

    /// Adds `new`.
    pub(crate) const fn creates(mut self, create: Create) -> Kind {
        self.create = Some(create);
        self
    }

    /// Its constants by name.
    pub(crate) const fn constants(mut self, constant: fn(&str) -> Option<Value>) -> Kind {
        self.constant = constant;
        self
    }

    /// Methods of the class itself.
    pub(crate) const fn statics(mut self, rows: &'static [ClassRow]) -> Kind {
        self.statics = rows;
        self
    }

    /// Methods of its objects.
    pub(crate) const fn methods(mut self, rows: &'static [ClassRow]) -> Kind {
        self.methods = rows;
        self
    }

    /// Methods that its objects have in JavaScript alone, which come before the others there.
    pub(crate) const fn javascript(mut self, rows: &'static [ClassRow]) -> Kind {
        self.javascript = rows;
        self
    }

    /// Another value that its objects pass on what they do not know.
    pub(crate) const fn passes_on(
        mut self,
        kind: &'static Kind,
        value: fn(&mut Machine<'_>, &Value) -> Run,
    ) -> Kind {
        self.stand = Some(Stand { kind, value });
        self
    }

    /// A class whose methods it has as well, without being of that class.
    pub(crate) const fn mixes_in(mut self, kind: &'static Kind) -> Kind {
        self.mixed = Some(kind);
        self
    }

    /// Adds `as`.
    pub(crate) const fn casts(mut self, cast: Cast) -> Kind {
        self.cast = Some(cast);
        self
    }

    /// How a part of the outside world is seen beside its methods.
    pub(crate) const fn viewed(mut self, view: ClassView) -> Kind {
        self.view = view;
        self
    }

    /// Why methods that are in no row do not run.
    pub(crate) const fn lacks(mut self, reason: fn(&str) -> Option<&'static str>) -> Kind {
        self.absent = reason;
        self
    }

    /// The type that a declaration or a cast with its name converts to.
    pub(crate) const fn converts(mut self, to: fn() -> Type) -> Kind {
        self.converts = Some(to);
        self
    }

    pub(crate) fn package(&self) -> &'static str {
        self.package
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn full_name(&self) -> String {
        if self.package.is_empty() { self.name.to_owned() } else { format!("{}.{}", self.package, self.name) }
    }

    /// True if it is called so where no package is given.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.name == name || self.name.rsplit('.').next() == Some(name)
    }

    /// The type that a declaration with its name converts to.
    pub(crate) fn as_type(&'static self) -> Type {
        self.converts.map_or(Type::Class(Class::Known(self)), |to| to())
    }

    pub(crate) fn cast(&self) -> Option<Cast> {
        self.cast
    }

    pub(crate) fn view(&self) -> ClassView {
        self.view
    }

    /// Itself, what it mixes in, what it extends, and so on: in the order in which methods are looked for.
    pub(crate) fn lineage(&'static self) -> Vec<&'static Kind> {
        let mut kinds = vec![self];
        for kind in [self.mixed, self.parent].into_iter().flatten() {
            kinds.extend(kind.lineage());
        }
        kinds
    }

    pub(crate) fn create(&self) -> Option<Create> {
        self.create
    }

    pub(crate) fn constant(&self, name: &str) -> Option<Value> {
        (self.constant)(name)
    }

    pub(crate) fn stand(&self) -> Option<Stand> {
        self.stand
    }

    /// True if it is the other, or extends it.
    pub(crate) fn is_a(&'static self, other: &'static Kind) -> bool {
        let mut kinds = std::iter::successors(Some(self), |kind| kind.parent);
        kinds.any(|kind| ptr::eq(kind, other))
    }

    /// The function of a method of its objects, by its number of arguments.
    pub(crate) fn method(&'static self, method: Method, args: usize, dialect: Dialect) -> Option<Native> {
        self.index(dialect).native(method, args)
    }

    /// The function of a method of the class.
    pub(crate) fn static_method(&'static self, method: Method, args: usize) -> Option<Native> {
        self.static_index().native(method, args)
    }

    /// Looks a method of its objects up before the run; without a number of arguments, where that is open.
    pub(crate) fn knows(&'static self, method: &str, args: Option<usize>, dialect: Dialect) -> Knowledge {
        let found = match Method::named(method) {
            Some(method) => self.index(dialect).knows(method, args),
            None => Knowledge::Unknown,
        };
        match (found, self.stand) {
            (Knowledge::Unknown, Some(stand)) => stand.kind.knows(method, args, dialect),
            (Knowledge::Unknown, None) => (self.absent)(method).map_or(Knowledge::Unknown, Knowledge::Listed),
            (found, _) => found,
        }
    }

    /// Looks a method of the class up before the run.
    pub(crate) fn knows_static(&'static self, method: &str, args: Option<usize>) -> Knowledge {
        let Some(method) = Method::named(method) else { return Knowledge::Unknown };
        self.static_index().knows(method, args)
    }

    /// All its rows, for the numbering of names.
    pub(crate) fn all_rows(&self) -> impl Iterator<Item = &'static ClassRow> {
        self.javascript.iter().chain(self.methods).chain(self.statics)
    }

    fn index(&'static self, dialect: Dialect) -> &'static Index {
        let javascript = dialect == Dialect::JavaScript;
        let place = if javascript { &self.of_objects_in_javascript } else { &self.of_objects };
        place.get_or_init(|| {
            let kinds = self.lineage();
            let own = kinds.iter().filter(|_| javascript).flat_map(|kind| kind.javascript);
            Index::new(own.chain(kinds.iter().flat_map(|kind| kind.methods)))
        })
    }

    fn static_index(&'static self) -> &'static Index {
        self.of_class.get_or_init(|| Index::new(self.lineage().into_iter().flat_map(|kind| kind.statics)))
    }
}

/// Rows by the number of their method.
struct Index {
    /// Where the rows of each method begin; one more for the end.
    starts: Vec<u16>,
    rows: Vec<&'static ClassRow>,
}

impl Index {
    /// Of rows, the ones that come first before the others of their name.
    fn new(rows: impl Iterator<Item = &'static ClassRow>) -> Index {
        let number =
            |row: &ClassRow| Method::named(row.name).expect("names of all rows are numbered").number();
        let mut numbered: Vec<(usize, &'static ClassRow)> = rows.map(|row| (number(row), row)).collect();
        numbered.sort_by_key(|(number, _)| *number);
        let mut starts = vec![0_u16; Method::count() + 1];
        for (number, _) in &numbered {
            starts[number + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        Index { starts, rows: numbered.into_iter().map(|(_, row)| row).collect() }
    }

    fn rows(&self, method: Method) -> &[&'static ClassRow] {
        let at = method.number();
        &self.rows[usize::from(self.starts[at])..usize::from(self.starts[at + 1])]
    }

    fn native(&self, method: Method, args: usize) -> Option<Native> {
        self.rows(method).iter().filter(|row| row.takes(args)).find_map(|row| row.run)
    }

    fn knows(&self, method: Method, args: Option<usize>) -> Knowledge {
        let rows = self.rows(method);
        let Some(row) = rows.iter().find(|row| args.is_none_or(|args| row.takes(args))) else {
            return if rows.is_empty() { Knowledge::Unknown } else { Knowledge::OtherCount };
        };
        match row.listed {
            Some(reason) => Knowledge::Listed(reason),
            None => Knowledge::Runs(row.gives.map(Class::Known)),
        }
    }
}
