//! Program text that plans give in order to name their own folder: its value is known before the run.

/// Value of program text made of the plan's folder, separators and quoted words joined by `+`; `None` for any other.
pub(super) fn value(text: &str, folder: &dyn Fn() -> String) -> Option<String> {
    let text = without_imports(text);
    let text = text.strip_prefix("return ").unwrap_or(&text);
    text.trim().trim_end_matches(';').split('+').map(|part| part_value(part.trim(), folder)).collect()
}

/// True if the value of program text is known before the run.
pub(super) fn is_known(text: &str) -> bool {
    value(text, &String::new).is_some()
}

/// The statements behind those that import the class of the plan's folder.
fn without_imports(text: &str) -> String {
    let statements = text.split(';').map(str::trim);
    let rest: Vec<&str> =
        statements.filter(|one| *one != "import org.apache.jmeter.services.FileServer").collect();
    rest.join(";")
}

fn part_value(part: &str, folder: &dyn Fn() -> String) -> Option<String> {
    let plain: String = part.split_whitespace().collect();
    let plain = plain.strip_prefix("org.apache.jmeter.services.").unwrap_or(&plain);
    match plain.strip_prefix("java.io.").unwrap_or(plain) {
        "FileServer.getFileServer().getBaseDir()" | "FileServer.getFileServer().baseDir" => Some(folder()),
        "File.separator" => Some("/".to_owned()),
        _ => {
            let quoted = part.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'))?;
            (!quoted.contains(['"', '\\', '$'])).then(|| quoted.to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_plan_is_known() {
        let folder = || "/plans".to_owned();
        for (text, expected) in [
            (
                "import org.apache.jmeter.services.FileServer; FileServer.getFileServer().getBaseDir();",
                Some("/plans"),
            ),
            ("return org.apache.jmeter.services.FileServer.getFileServer().getBaseDir()", Some("/plans")),
            ("File.separator", Some("/")),
            ("FileServer.getFileServer().getBaseDir() + File.separator + \"a.csv\"", Some("/plans/a.csv")),
            ("vars.get(\"a\")", None),
            ("new Date(); File.separator", None),
            ("\"a$b\"", None),
            ("", None),
        ] {
            assert_eq!(value(text, &folder).as_deref(), expected, "{text}");
        }
    }
}
