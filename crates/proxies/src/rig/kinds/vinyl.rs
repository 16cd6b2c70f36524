//! Vinyl Cache, which was Varnish Cache before version 9: the same configuration for a program of another name.

use super::varnish::Varnish;
use crate::rig::farm::Origins;
use crate::rig::{Proxy, RigOptions, Setup};
use plan::HttpProtocol;

/// Vinyl Cache.
#[derive(Debug)]
pub(super) struct Vinyl;

impl Proxy for Vinyl {
    fn name(&self) -> &str {
        "vinyl"
    }

    fn title(&self) -> &str {
        "Vinyl Cache"
    }

    fn programs(&self) -> &[&str] {
        &["vinyld"]
    }

    fn package(&self) -> &str {
        "vinyl-cache"
    }

    fn version_option(&self) -> &str {
        Varnish.version_option()
    }

    fn speaks(&self) -> &[HttpProtocol] {
        Varnish.speaks()
    }

    fn works_in_children(&self) -> bool {
        Varnish.works_in_children()
    }

    fn setup(&self, options: &RigOptions, origins: &Origins, folder: &str) -> Setup {
        Varnish.setup(options, origins, folder)
    }

    fn set(&self, setup: &mut Setup, key: &str, value: &str) -> bool {
        Varnish.set(setup, key, value)
    }
}
