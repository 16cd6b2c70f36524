//! Secrets in URLs, told by the names of their parameters: they become secrets of the plan, which names them.

use plan::data::{Data, Source};
use plan::secret::{Secret, is_secret_parameter};
use plan::template::is_template;

/// The characters that end a parameter of a query.
const ENDS: [char; 2] = ['&', '#'];

/// Puts placeholders in the places of secrets in the query of a URL, which is a template already. Returns the secrets by their names.
pub(crate) fn hide(url: &mut String) -> Vec<Data> {
    let mut found: Vec<Data> = Vec::new();
    let Some(query) = url.find('?').map(|at| at + 1) else { return found };
    let mut shown = url[..query].to_owned();
    let mut rest = &url[query..];
    while !rest.is_empty() {
        let (parameter, behind) = rest.split_at(rest.find(ENDS).unwrap_or(rest.len()));
        match parameter.split_once('=') {
            Some((name, value)) if is_secret(name, value) => {
                let (plain, how) = decoded(value);
                let name_in_plan = unused(name, &found);
                shown.push_str(&format!("{name}={{{{{name_in_plan}|{how}}}}}"));
                found.push(Data::of(&name_in_plan, Source::Secret(Secret::typed(&*plain))));
            }
            Some(_) | None => shown.push_str(parameter),
        }
        let mark = behind.chars().next().map_or(0, char::len_utf8);
        shown.push_str(&behind[..mark]);
        rest = &behind[mark..];
    }
    *url = shown;
    found
}

fn is_secret(name: &str, value: &str) -> bool {
    !value.is_empty() && is_secret_parameter(name) && !is_template(value.as_bytes())
}

/// A value as people know it, and how it is written to become what it was.
fn decoded(value: &str) -> (String, &'static str) {
    let plain = percent_encoding::percent_decode_str(value).decode_utf8();
    let of_form = percent_encoding::percent_decode_str(&value.replace('+', " "))
        .decode_utf8()
        .map(|text| text.into_owned());
    match (plain, of_form) {
        (Ok(plain), _) if encoded(&plain) == value => (plain.into_owned(), "url"),
        (_, Ok(plain)) if form(&plain) == value => (plain, "form"),
        _ => (value.to_owned(), "raw"),
    }
}

/// As a part of a URL.
pub(crate) fn encoded(value: &str) -> String {
    percent_encoding::utf8_percent_encode(value, percent_encoding::NON_ALPHANUMERIC).to_string()
}

/// As a form has it.
pub(crate) fn form(value: &str) -> String {
    url::form_urlencoded::byte_serialize(value.as_bytes()).collect()
}

/// A name for the secret of a parameter that no other has.
fn unused(parameter: &str, found: &[Data]) -> String {
    let plain: String =
        parameter.chars().map(|one| if one.is_ascii_alphanumeric() { one } else { '_' }).collect();
    let names =
        (1..).map(|nth| if nth == 1 { format!("secret_{plain}") } else { format!("secret_{plain}_{nth}") });
    let mut free = names.filter(|name| found.iter().all(|data| data.name != *name));
    free.next().expect("there are more numbers than parameters")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_parameters_that_tell_a_secret_become_placeholders() {
        for (url, shown, secrets) in [
            ("http://h/a?b=1", "http://h/a?b=1", vec![]),
            ("http://h/token", "http://h/token", vec![]),
            ("http://h/?token=&x=2", "http://h/?token=&x=2", vec![]),
            ("http://h/?token={{token|path}}", "http://h/?token={{token|path}}", vec![]),
            (
                "http://h/?a=1&api_key=k%2F1&token=x#end",
                "http://h/?a=1&api_key={{secret_api_key|url}}&token={{secret_token|url}}#end",
                vec!["k/1", "x"],
            ),
            ("http://h/?sig=a+b%2F", "http://h/?sig={{secret_sig|form}}", vec!["a b/"]),
            ("http://h/?sig=a:b%2f", "http://h/?sig={{secret_sig|raw}}", vec!["a:b%2f"]),
            (
                "http://h/?sid=1&sid=2",
                "http://h/?sid={{secret_sid|url}}&sid={{secret_sid_2|url}}",
                vec!["1", "2"],
            ),
        ] {
            let mut made = url.to_owned();
            let found = hide(&mut made);
            let values: Vec<&str> =
                found.iter().filter_map(|data| data.source.secret()).map(Secret::reveal).collect();
            assert_eq!((made.as_str(), values), (shown, secrets), "{url}");
        }
    }
}
