//! Keystores: Java's system properties name the file, and an element says which of its keys are shown.

use super::Converter;
use crate::element::Element;
use plan::{Keystore, Secret, Step};

/// Reads the key settings of a Keystore Configuration.
pub(super) fn keystore_config(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    let text = |name: &str| of.properties.text(name).trim().to_owned();
    let index = |name: &str| text(name).parse::<u64>().ok();
    let variable = text("clientCertAliasVarName");
    if keystore(c).is_none() {
        c.missing(
            of,
            "no keystore is named: give -Djavax.net.ssl.keyStore=FILE.p12 -Djavax.net.ssl.keyStorePassword=env:NAME",
        );
    } else if !variable.is_empty() {
        match c.text(of, &format!("${{{variable}}}")).constant() {
            Some(alias) => c.key_alias = Some(alias),
            None => {
                c.different(
                    of,
                    "all users show the first key of the keystore, whatever the variable's value",
                );
            }
        }
    } else if index("startIndex").unwrap_or(0) != 0 || index("endIndex") != Some(0) {
        c.different(of, "all users show the first key of the keystore, and do not take turns with its keys");
    }
    Vec::new()
}

/// The keystore that the system properties name.
pub(super) fn keystore(c: &Converter<'_>) -> Option<Keystore> {
    let property = |name: &str| c.settings.properties.get(&format!("javax.net.ssl.{name}")).cloned();
    let file = property("keyStore").filter(|file| !file.is_empty() && file != "NONE")?;
    let password = Secret::parse(&property("keyStorePassword").unwrap_or_default());
    Some(Keystore { file, password, alias: c.key_alias.clone() })
}
