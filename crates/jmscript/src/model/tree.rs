//! A compiled script: names are slots, methods and classes are numbers, literals are values. It is made by `parse`, never
//! changed, and walked by `run`.

use crate::model::class::{Class, Method};
use crate::number::Decimal;
use num_bigint::BigInt;
use std::rc::Rc;

/// A value that stands in the text.
#[derive(Clone, Debug)]
pub enum Literal {
    /// `null`.
    Null,
    /// BeanShell's `void`, JavaScript's `undefined`.
    Void,
    /// `true`, `false`.
    Bool(bool),
    /// A whole number of 32 bits.
    Int(i32),
    /// A whole number of 64 bits.
    Long(i64),
    /// A larger whole number.
    Big(Rc<BigInt>),
    /// A `float`.
    Float(f32),
    /// A `double`.
    Double(f64),
    /// A decimal.
    Decimal(Rc<Decimal>),
    /// A `char`.
    Char(char),
    /// A text.
    Text(Rc<str>),
}

/// Object that a name like `vars` stands for: part of the outside world, reached through the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binding {
    /// `vars`: the user's variables.
    Vars,
    /// `props`: what all users share.
    Props,
    /// `ctx`: where in the run the script stands.
    Ctx,
    /// `log`.
    Log,
    /// `OUT` and `System.out`.
    Out,
    /// `prev`, and `SampleResult` where an element gives it that name: the sample that the script is about.
    Prev,
    /// `SampleResult` of a sampler: the sample that the script makes.
    SampleResult,
    /// `AssertionResult`.
    AssertionResult,
    /// `sampler`: the request that this element belongs to.
    Sampler,
    /// `sampleEvent`.
    SampleEvent,
    /// `Parameters`: the element's parameters as one text.
    Parameters,
    /// `args`, `bsh.args`: the parameters as a list.
    Args,
    /// `Label`: the element's name.
    Label,
    /// `FileName`.
    FileName,
    /// `data`, `ResponseData` of BeanShell: the sample's bytes.
    ResponseData,
    /// BeanShell's `ResponseCode`, which can be set.
    ResponseCode,
    /// BeanShell's `ResponseMessage`, which can be set.
    ResponseMessage,
    /// BeanShell's `ResponseHeaders`.
    ResponseHeaders,
    /// BeanShell's `RequestHeaders`.
    RequestHeaders,
    /// BeanShell's `SamplerData`.
    SamplerData,
    /// BeanShell's `IsSuccess`, which can be set.
    IsSuccess,
    /// BeanShell's `Failure`, which can be set.
    Failure,
    /// BeanShell's `FailureMessage`, which can be set.
    FailureMessage,
    /// `bsh`.
    Bsh,
    /// `threadName` of JEXL.
    ThreadName,
    /// `binding`: the script's own variables.
    Variables,
    /// The header manager of the sampler.
    HeaderManager,
    /// The cookie manager of the sampler.
    CookieManager,
    /// The arguments of the sampler.
    Arguments,
    /// The thread group.
    ThreadGroup,
    /// The numbers of users.
    ThreadCounts,
    /// The thread, which is a user here.
    Thread,
    /// The engine.
    Engine,
    /// The file server, which knows the plan's folder.
    FileServer,
}

/// A type as a declaration, a cast or `as` names it.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// `def`, `var`, `Object`, or a class that values are not converted to.
    Any,
    /// `boolean`; boxed types are the same here.
    Bool,
    /// `byte`.
    Byte,
    /// `short`.
    Short,
    /// `int`.
    Int,
    /// `long`.
    Long,
    /// `float`.
    Float,
    /// `double`.
    Double,
    /// `char`.
    Char,
    /// `String`.
    Text,
    /// `BigDecimal`.
    Decimal,
    /// `BigInteger`.
    Big,
    /// `List` and its kinds.
    List,
    /// `Set` and its kinds.
    Set,
    /// `Map` and its kinds.
    Map,
    /// `T[]`.
    Array(Box<Type>),
    /// A class that values can be asked for, but not converted to.
    Class(Class),
}

impl Type {
    /// The type that a class is when values are converted to it.
    pub fn of_class(class: Class) -> Type {
        match class {
            Class::Known(kind) => kind.as_type(),
            Class::Thrown(_) => Type::Class(class),
        }
    }
}

/// How a name reaches its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreePlace {
    /// A slot of the running function.
    Local(u16),
    /// A variable of a surrounding function.
    Captured(u16),
    /// A variable of the script's binding.
    Global(u16),
    /// The outside world.
    Bound(Binding),
}

/// Where a closure finds what it captures when it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capture {
    /// In a slot of the surrounding function.
    Local(u16),
    /// In what the surrounding function itself has captured.
    Captured(u16),
}

/// Operators of two operands that evaluate both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
    ShiftLeft,
    ShiftRight,
    ShiftRightUnsigned,
    BitAnd,
    BitOr,
    BitXor,
    Equal,
    NotEqual,
    Same,
    NotSame,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Compare,
    Find,
    Matches,
    NotMatches,
    In,
    NotIn,
    StartsWith,
    EndsWith,
}

/// Operators of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Minus,
    Plus,
    Not,
    BitNot,
    Empty,
    Size,
    TypeOf,
}

/// A call of a method.
#[derive(Debug)]
pub struct Call {
    /// The receiver.
    pub of: Expr,
    /// The method, where it is one that is understood.
    pub method: Option<Method>,
    /// Its name.
    pub name: Rc<str>,
    /// The arguments.
    pub args: Box<[Expr]>,
    /// `?.`: nothing is called on null.
    pub is_safe: bool,
    /// `*.`: called on each element.
    pub is_spread: bool,
    /// The line, from 1.
    pub line: u32,
}

/// A property, `of.name`.
#[derive(Debug)]
pub struct Property {
    /// The object.
    pub of: Expr,
    /// The name as written.
    pub name: Rc<str>,
    /// The methods that read it where it is no key: `getName`, `isName`.
    pub getters: [Option<Method>; 2],
    /// The method that writes it.
    pub setter: Option<Method>,
    /// `?.`.
    pub is_safe: bool,
    /// `*.`.
    pub is_spread: bool,
}

/// Target of an assignment.
#[derive(Debug)]
pub enum TreeTarget {
    /// A name.
    Place(TreePlace),
    /// A property.
    Property(Box<Property>),
    /// An element, and its index.
    Index(Box<(Expr, Expr)>),
}

/// A piece of a text with expressions in it.
#[derive(Debug)]
pub enum TreePiece {
    /// Text as it is.
    Text(Rc<str>),
    /// A value, taken when the text is built.
    Value(Expr),
    /// A closure, called when the text is printed.
    Lazy(Expr),
}

/// An expression.
#[derive(Debug)]
pub enum Expr {
    /// A literal.
    Literal(Literal),
    /// A name.
    Place(TreePlace),
    /// A class.
    Class(Class),
    /// A constant of a class, as `Integer.MAX_VALUE`.
    Constant(Class, Rc<str>),
    /// A text with expressions in it; whether it stays a GString.
    Template(Box<[TreePiece]>),
    /// A list.
    List(Box<[Expr]>),
    /// A map.
    Map(Box<[(Expr, Expr)]>),
    /// A range, and whether its end belongs to it.
    Range(Box<(Expr, Expr)>, bool),
    /// `*list` among the elements of a list or the arguments of a call.
    Spread(Box<Expr>),
    /// An operator of one operand.
    Unary(Unary, Box<Expr>),
    /// An operator of two operands.
    Binary(Binary, Box<(Expr, Expr)>),
    /// `&&`.
    And(Box<(Expr, Expr)>),
    /// `||`.
    Or(Box<(Expr, Expr)>),
    /// `a ? b : c`.
    Ternary(Box<(Expr, Expr, Expr)>),
    /// `a ?: b`.
    Elvis(Box<(Expr, Expr)>),
    /// An assignment, with the operator of `+=` and its like.
    Assign(TreeTarget, Option<Binary>, Box<Expr>),
    /// `?=`.
    AssignUnlessTrue(TreeTarget, Box<Expr>),
    /// `++` and `--`: the step, and whether the value is the one before it.
    Step(TreeTarget, i8, bool),
    /// A property.
    Property(Box<Property>),
    /// An element; whether null is passed on (`?[`).
    Index(Box<(Expr, Expr)>, bool),
    /// A method's call.
    Call(Box<Call>),
    /// A call of a function of the script, or of what a closure's delegate knows, by its name.
    Function(Box<FunctionCall>),
    /// A call of what an expression gives.
    Apply(Box<(Expr, Box<[Expr]>)>),
    /// `new`.
    New(Class, Box<[Expr]>),
    /// `new T[n]`, `new T[n][m]`.
    NewArray(Type, Box<[Expr]>),
    /// A method of a class.
    Static(Box<StaticCall>),
    /// `(T) value`; whether it is `value as T`, which converts more.
    Cast(Type, Box<Expr>, bool),
    /// `instanceof`.
    InstanceOf(Box<Expr>, Type),
    /// A closure: the function's place in [`TreeCode::functions`].
    Closure(u16),
    /// `object.&method`.
    MethodPointer(Box<Expr>, Rc<str>),
}

/// A call of a method of a class.
#[derive(Debug)]
pub struct StaticCall {
    /// The class.
    pub class: Class,
    /// The method.
    pub method: Method,
    /// The arguments.
    pub args: Box<[Expr]>,
    /// The line, from 1.
    pub line: u32,
}

/// A call by a name alone.
#[derive(Debug)]
pub struct FunctionCall {
    /// The name.
    pub name: Rc<str>,
    /// Its place in [`TreeCode::calls`].
    pub id: u16,
    /// The arguments.
    pub args: Box<[Expr]>,
    /// The line, from 1.
    pub line: u32,
}

/// A statement with its line.
#[derive(Debug)]
pub struct TreeLine {
    /// The line, from 1.
    pub line: u32,
    /// The statement.
    pub statement: Statement,
}

/// Statements one after the other.
pub type Block = Box<[TreeLine]>;

/// A statement.
#[derive(Debug)]
pub enum Statement {
    /// An expression whose value nobody wants.
    Expr(Expr),
    /// A new variable in a slot.
    Declare(u16, Type, Option<Expr>),
    /// A new variable of the binding (BeanShell's outermost level).
    DeclareGlobal(u16, Type, Option<Expr>),
    /// `def (a, b) = list`.
    DeclareMany(Box<[u16]>, Expr),
    /// `(a, b) = list`.
    AssignMany(Box<[TreeTarget]>, Expr),
    /// `if`.
    If(Expr, Block, Block),
    /// `while`.
    While(Expr, Block),
    /// `do … while`.
    DoWhile(Block, Expr),
    /// `for (;;)`.
    For(Box<For>),
    /// `for (x in list)`.
    ForIn(Box<ForIn>, Block),
    /// `switch`.
    Switch(Expr, Box<[Case]>),
    /// `try`.
    Try(Box<Try>),
    /// `throw`.
    Throw(Expr),
    /// `return`.
    Return(Option<Expr>),
    /// `break`.
    Break(Option<Rc<str>>),
    /// `continue`.
    Continue(Option<Rc<str>>),
    /// A block of its own.
    Block(Block),
    /// A statement with a label.
    Labelled(Rc<str>, Block),
    /// `assert`: the condition, its text, the message.
    Assert(Expr, Rc<str>, Option<Expr>),
}

/// The parts of a `for` with semicolons.
#[derive(Debug)]
pub struct For {
    /// Before the first turn.
    pub init: Block,
    /// Condition of another turn.
    pub condition: Option<Expr>,
    /// After each turn.
    pub update: Box<[Expr]>,
    /// The turn.
    pub body: Block,
}

/// The parts of a `for` over the elements of something.
#[derive(Debug)]
pub struct ForIn {
    /// The variable.
    pub place: TreePlace,
    /// Its type.
    pub kind: Type,
    /// The elements.
    pub list: Expr,
}

/// `case value:`, or `default:` without a value.
#[derive(Debug)]
pub struct Case {
    /// Value that it is compared with.
    pub value: Option<Expr>,
    /// The statements up to the next case.
    pub body: Block,
}

/// `try`, `catch`, `finally`.
#[derive(Debug)]
pub struct Try {
    /// Block that is tried.
    pub body: Block,
    /// The `catch` clauses.
    pub catches: Box<[Catch]>,
    /// Block that is run in any case.
    pub finally: Option<Block>,
}

/// A `catch`.
#[derive(Debug)]
pub struct Catch {
    /// The classes that it takes; without any, all.
    pub classes: Box<[Option<Class>]>,
    /// The slot of its variable.
    pub slot: u16,
    /// Block that is run.
    pub body: Block,
}

/// A parameter of a function.
#[derive(Debug)]
pub struct Parameter {
    /// Its type.
    pub kind: Type,
    /// Its value where the caller gives none.
    pub default: Option<Expr>,
}

/// A script's body, a method or a closure.
#[derive(Debug)]
pub struct Function {
    /// Its name; empty for a closure.
    pub name: Rc<str>,
    /// The parameters, in the first slots.
    pub parameters: Box<[Parameter]>,
    /// True if it is a closure without `->`, whose one parameter `it` may be missing.
    pub has_it: bool,
    /// Slots needed.
    pub slots: u16,
    /// Variables that it captures when it is made.
    pub captures: Box<[Capture]>,
    /// Statements of its body.
    pub body: Block,
    /// The type of what it returns.
    pub returns: Type,
}

/// A whole script.
#[derive(Debug)]
pub struct TreeCode {
    /// Closures and methods.
    pub functions: Vec<Rc<Function>>,
    /// The names of the binding's variables.
    pub globals: Vec<Rc<str>>,
    /// For each name that is called, the method of the script that it is, and the binding's variable.
    pub calls: Vec<Callee>,
    /// The body.
    pub main: Rc<Function>,
}

/// Possible meanings of a name that is called.
#[derive(Debug, Default, Clone)]
pub struct Callee {
    /// Methods of the script, one per number of parameters.
    pub functions: Vec<u16>,
    /// A variable that holds a closure.
    pub place: Option<TreePlace>,
}
