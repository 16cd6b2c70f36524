//! Both ends against each other, over a network of the tests' own on a clock of its own.

mod catalogue;
mod exchanges;
mod faults;
mod frames;
mod network;
