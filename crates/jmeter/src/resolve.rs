//! From the file to what takes part in a run: elements that are switched off are gone, Module Controllers hold what they
//! point at, Include Controllers what another file holds, and each element knows its path.

use crate::element::{Element, elements};
use crate::encoding;
use crate::error::Error;
use crate::finding::{Finding, Grade};
use crate::settings::Settings;
use crate::xml::Tree;

/// Modules and files may stand in each other this deep.
const MAX_DEPTH: usize = 20;
/// A plan unfolds to at most so many elements.
const MAX_ELEMENTS: usize = 500_000;

/// The elements of a file.
pub(crate) fn read(bytes: &[u8]) -> Result<Vec<Element>, Error> {
    elements(&Tree::read(&encoding::decode(bytes)?)?)
}

/// The test plan of a file's elements, with all that it points at.
pub(crate) fn resolve(
    roots: &[Element],
    settings: &Settings<'_>,
    findings: &mut Vec<Finding>,
) -> Result<Element, Error> {
    let plan = roots.iter().find(|root| root.class == "TestPlan" && root.enabled).ok_or(Error::NoTestPlan)?;
    let mut resolver = Resolver { settings, findings, elements: 0, open: Vec::new() };
    resolver.element(plan, "", roots)
}

struct Resolver<'a, 'b> {
    settings: &'a Settings<'b>,
    findings: &'a mut Vec<Finding>,
    elements: usize,
    /// Names of the modules and files that are unfolded at the moment.
    open: Vec<String>,
}

impl Resolver<'_, '_> {
    /// A copy of an element and of what stands below it. `roots`: all elements of its file.
    fn element(&mut self, of: &Element, above: &str, roots: &[Element]) -> Result<Element, Error> {
        self.elements += 1;
        if self.elements > MAX_ELEMENTS {
            return Err(Error::TooLarge("500,000 elements once modules are unfolded"));
        }
        let mut copy =
            Element { children: Vec::new(), path: format!("{above}/{}", of.title()), ..of.clone() };
        let children = of.children.iter().filter(|child| child.enabled);
        copy.children =
            children.map(|child| self.element(child, &copy.path, roots)).collect::<Result<_, _>>()?;
        match of.class.as_str() {
            "ModuleController" => self.module(&mut copy, roots)?,
            "IncludeController" => self.include(&mut copy)?,
            _ => {}
        }
        Ok(copy)
    }

    /// Puts a copy of the subtree that a Module Controller names below it, enabled or not.
    fn module(&mut self, module: &mut Element, roots: &[Element]) -> Result<(), Error> {
        let names: Vec<&str> =
            module.properties.list("ModuleController.node_path").iter().map(|name| name.as_text()).collect();
        let key = names.join("/");
        let Some(target) = target(roots, &names) else {
            self.say(module, format!("its module '{key}' is not in the plan: choose it anew in JMeter"));
            return Ok(());
        };
        if self.enters(&key, module) {
            let below = self.element(target, &module.path, roots)?;
            module.children.push(below);
            self.open.pop();
        }
        Ok(())
    }

    /// Puts what the test fragments of another file hold below an Include Controller.
    fn include(&mut self, include: &mut Element) -> Result<(), Error> {
        let prefix = self.settings.properties.get("includecontroller.prefix").map_or("", String::as_str);
        let path = format!("{prefix}{}", include.properties.text("IncludeController.includepath").trim());
        let Some(bytes) = (self.settings.included)(&path) else {
            self.say(include, format!("the file '{path}' that it includes is not there"));
            return Ok(());
        };
        let roots = match read(&bytes) {
            Ok(roots) => roots,
            Err(error) => {
                self.say(include, format!("the file '{path}' that it includes is no plan: {error}"));
                return Ok(());
            }
        };
        if self.enters(&path, include) {
            for child in fragments(&roots) {
                let below = self.element(child, &include.path, &roots)?;
                include.children.push(below);
            }
            self.open.pop();
        }
        Ok(())
    }

    /// True if something can be unfolded here: it is not unfolded already, around this place.
    fn enters(&mut self, key: &str, at: &Element) -> bool {
        let cyclic = self.open.iter().any(|open| open == key);
        if cyclic || self.open.len() >= MAX_DEPTH {
            let why = if cyclic { "it leads back to itself" } else { "modules stand in each other too deep" };
            self.say(at, format!("'{key}' is not unfolded: {why}"));
            return false;
        }
        self.open.push(key.to_owned());
        true
    }

    fn say(&mut self, at: &Element, why: String) {
        self.findings.push(Finding::new(Grade::Missing, at, why));
    }
}

/// The element at a path of names. The path begins with the name of the window's root, which is not in the file.
fn target<'a>(roots: &'a [Element], names: &[&str]) -> Option<&'a Element> {
    (0..names.len().min(3))
        .rev()
        .filter(|skip| *skip > 0)
        .chain([0])
        .find_map(|skip| below(roots, names.get(skip..)?))
}

/// The element at a path of names below some elements. Of several siblings of one name each is tried.
fn below<'a>(level: &'a [Element], names: &[&str]) -> Option<&'a Element> {
    let (first, rest) = names.split_first()?;
    let mut named = level.iter().filter(|element| element.title() == *first);
    if rest.is_empty() { named.next() } else { named.find_map(|element| below(&element.children, rest)) }
}

/// Returns the elements in the test fragments of an included file.
fn fragments(roots: &[Element]) -> Vec<&Element> {
    let plans = roots.iter().filter(|root| root.class == "TestPlan").flat_map(|plan| &plan.children);
    let fragments = plans.chain(roots).filter(|element| element.class == "TestFragmentController");
    fragments.flat_map(|fragment| &fragment.children).filter(|child| child.enabled).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(inner: &str) -> Vec<Element> {
        let xml = format!(
            "<jmeterTestPlan><hashTree><TestPlan testname='P'/><hashTree>{inner}</hashTree></hashTree></jmeterTestPlan>"
        );
        read(xml.as_bytes()).unwrap()
    }

    fn shown(element: &Element) -> String {
        let children: Vec<String> = element.children.iter().map(shown).collect();
        match children.is_empty() {
            true => element.name.clone(),
            false => format!("{}({})", element.name, children.join(" ")),
        }
    }

    fn module(name: &str, to: &[&str]) -> String {
        let path: String = to.iter().map(|name| format!("<stringProp>{name}</stringProp>")).collect();
        format!(
            "<ModuleController testname='{name}'><collectionProp name='ModuleController.node_path'>{path}</collectionProp></ModuleController><hashTree/>"
        )
    }

    #[test]
    fn modules_hold_what_they_point_at() {
        let inner = format!(
            "<TestFragmentController testname='F' enabled='false'/><hashTree><S testname='s'/><S testname='off' enabled='false'/></hashTree>\
             <ThreadGroup testname='G'/><hashTree>{}{}</hashTree>",
            module("m", &["Test Plan", "P", "F"]),
            module("lost", &["Test Plan", "P", "X"]),
        );
        let mut findings = Vec::new();
        let found = resolve(&plan(&inner), &Settings::default(), &mut findings).unwrap();
        assert_eq!(shown(&found), "P(G(m(F(s)) lost))");
        assert_eq!(found.children[0].children[0].children[0].children[0].path, "/P/G/m/F/s");
        assert_eq!(findings.len(), 1);
        assert!(
            findings[0].to_string().starts_with("/P/G/lost (ModuleController, line 1): its module"),
            "{findings:?}"
        );
    }

    #[test]
    fn of_siblings_of_one_name_each_is_tried() {
        let inner = format!(
            "<C testname='D'/><hashTree><S testname='a'/></hashTree><C testname='D'/><hashTree><S testname='b'/></hashTree>\
             <ThreadGroup testname='G'/><hashTree>{}</hashTree>",
            module("m", &["Test Plan", "P", "D", "b"]),
        );
        let mut findings = Vec::new();
        let found = resolve(&plan(&inner), &Settings::default(), &mut findings).unwrap();
        assert_eq!((shown(&found.children[2]), findings), ("G(m(b))".to_owned(), Vec::new()));
    }

    #[test]
    fn what_leads_back_to_itself_is_told() {
        let cyclic = format!(
            "<C testname='A'/><hashTree>{}</hashTree><C testname='B'/><hashTree>{}</hashTree>",
            module("to B", &["Test Plan", "P", "B"]),
            module("to A", &["Test Plan", "P", "A"]),
        );
        let mut findings = Vec::new();
        resolve(&plan(&cyclic), &Settings::default(), &mut findings).unwrap();
        assert!(findings.iter().all(|found| found.why.contains("leads back to itself")), "{findings:?}");
        assert!(!findings.is_empty());
    }

    #[test]
    fn included_files_bring_their_fragments() {
        let fragment = "<jmeterTestPlan><hashTree><TestPlan testname='Q'/><hashTree>\
            <TestFragmentController testname='F'/><hashTree><S testname='s'/></hashTree></hashTree></hashTree></jmeterTestPlan>";
        let include = "<IncludeController testname='i'><stringProp name='IncludeController.includepath'>f.jmx</stringProp></IncludeController>";
        let given = |path: &str| (path == "lib/f.jmx").then(|| fragment.as_bytes().to_vec());
        let mut settings = Settings { included: &given, ..Settings::default() };
        settings.properties.insert("includecontroller.prefix".to_owned(), "lib/".to_owned());
        let mut findings = Vec::new();
        assert_eq!(shown(&resolve(&plan(include), &settings, &mut findings).unwrap()), "P(i(s))");
        assert!(findings.is_empty());
        settings.properties.clear();
        resolve(&plan(include), &settings, &mut findings).unwrap();
        assert!(findings[0].why.contains("'f.jmx' that it includes is not there"));
    }
}
