//! Keystores: Java's system properties name the file, and an element says which of its keys are shown.

use super::Converter;
use crate::element::Element;
use plan::{Keystore, Secret};

impl Converter<'_> {
    /// Reads the key settings of a Keystore Configuration.
    pub(super) fn keystore_config(&mut self, of: &Element) {
        let text = |name: &str| of.properties.text(name).trim().to_owned();
        let index = |name: &str| text(name).parse::<u64>().ok();
        if self.keystore().is_none() {
            return self.missing(
                of,
                "no keystore is named: give -Djavax.net.ssl.keyStore=FILE.p12 -Djavax.net.ssl.keyStorePassword=env:NAME",
            );
        }
        let variable = text("clientCertAliasVarName");
        if variable.is_empty() {
            if (index("startIndex").unwrap_or(0), index("endIndex")) != (0, Some(0)) {
                self.different(
                    of,
                    "all users show the first key of the keystore, and do not take turns with its keys",
                );
            }
            return;
        }
        match self.text(of, &format!("${{{variable}}}")).constant() {
            Some(alias) => self.key_alias = Some(alias),
            None => self
                .different(of, "all users show the first key of the keystore, whatever the variable's value"),
        }
    }

    /// The keystore that the system properties name.
    pub(super) fn keystore(&self) -> Option<Keystore> {
        let property = |name: &str| self.settings.properties.get(&format!("javax.net.ssl.{name}")).cloned();
        let file = property("keyStore").filter(|file| !file.is_empty() && file != "NONE")?;
        let password = Secret::parse(&property("keyStorePassword").unwrap_or_default());
        Some(Keystore { file, password, alias: self.key_alias.clone() })
    }
}
