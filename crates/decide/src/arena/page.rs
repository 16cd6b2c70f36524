//! The arena as one page that needs nothing else: no script, no picture, no address of others.

use super::report::{Arena, Leg};
use crate::Findings;
use crate::Void;

const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:76rem;padding:0 1rem;color:#1b1f24;background:#fff}\
table{border-collapse:collapse;width:100%;margin:1rem 0}th,td{text-align:left;vertical-align:top;padding:.4rem .6rem;border-bottom:1px solid #d8dee4}\
td.wrong{background:#ffe3e0}code,pre{font:13px/1.4 ui-monospace,monospace;overflow-wrap:anywhere;white-space:pre-wrap}\
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}th,td{border-color:#30363d}td.wrong{background:#5c1f1a}}";

impl Arena {
    /// The page.
    pub fn page(&self, version: &str) -> String {
        let parts = [
            format!("<p>{}. Begun {}, wringer {}.</p>", escaped(&self.headline()), escaped(&self.began), escaped(version)),
            self.table(),
            "<h2>What is done</h2>".to_owned(),
            self.events_told(),
            "<p>Each turn starts its proxy anew, with an empty cache. The order is drawn by the seed. Speed is the median of all turns that are not void; \
             faults are those of all turns. There is no score: what weighs more is for the reader to say.</p>"
                .to_owned(),
            "<h2>Programs</h2>".to_owned(),
            self.programs(),
            format!("<h2>To repeat it</h2><pre>{}</pre>", escaped(&self.command)),
            "<h2>Turns, as they were run</h2>".to_owned(),
            self.turns_told(),
        ];
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>wringer arena</title>\
             <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style></head><body><h1>wringer arena</h1>\n{}\n</body></html>\n",
            parts.join("\n")
        )
    }

    fn table(&self) -> String {
        let head: String = self.events.iter().map(|event| format!("<th>{}</th>", event.name())).collect();
        let row = |(place, entrant): (usize, &super::Entrant)| {
            let cell = |event: &super::Event| {
                let cell = self.cell(place, *event);
                let lines: Vec<String> = cell.lines.iter().map(|line| escaped(line)).collect();
                let class = if cell.is_wrong { " class=\"wrong\"" } else { "" };
                format!("<td{class}>{}</td>", lines.join("<br>"))
            };
            let cells: String = self.events.iter().map(cell).collect();
            format!("<tr><th>{}</th>{cells}</tr>", escaped(&entrant.title()))
        };
        let rows: String = self.entrants.iter().enumerate().map(row).collect();
        format!("<table><tr><th></th>{head}</tr>{rows}</table>")
    }

    fn events_told(&self) -> String {
        let row = |event: &super::Event| {
            let options = event.options(self.quick);
            format!(
                "<tr><th>{}</th><td>{}</td><td><code>wringer cache --rig NAME {}</code></td></tr>",
                event.name(),
                escaped(event.about()),
                escaped(&options)
            )
        };
        format!("<table>{}</table>", self.events.iter().map(row).collect::<String>())
    }

    fn programs(&self) -> String {
        let row = |entrant: &super::Entrant| {
            let build = entrant.build_id.as_deref().unwrap_or("unknown");
            format!(
                "<tr><th>{}</th><td>build <code>{}</code></td></tr>",
                escaped(&entrant.title()),
                escaped(build)
            )
        };
        format!("<table>{}</table>", self.entrants.iter().map(row).collect::<String>())
    }

    fn turns_told(&self) -> String {
        let row = |leg: &Leg| {
            let name = self.entrants.get(leg.entrant).map(super::Entrant::title);
            // Folders are nobody else's affair.
            let file = leg.file.as_deref().and_then(|file| file.rsplit('/').next()).unwrap_or("not kept");
            format!(
                "<tr><td>{}</td><td>{}</td><td>{}</td><td><code>{}</code></td><td><code>{}</code>{}</td></tr>",
                leg.round,
                escaped(name.as_deref().unwrap_or("?")),
                leg.event.name(),
                escaped(file),
                escaped(&leg.command),
                leg.remark()
            )
        };
        let rows: String = self.legs.iter().map(row).collect();
        format!(
            "<table><tr><th>round</th><th>proxy</th><th>event</th><th>run file</th><th>command</th></tr>{rows}</table>"
        )
    }
}

impl Leg {
    fn remark(&self) -> String {
        let void = self
            .void
            .as_ref()
            .map(|(Void::Generator { why } | Void::Disturbed { why })| format!("void: {why}"));
        let told: Vec<String> =
            void.into_iter().chain(self.failure.clone()).map(|text| escaped(&text)).collect();
        if told.is_empty() { String::new() } else { format!("<br>{}", told.join("<br>")) }
    }
}

/// Text that is no markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::{leg, report};
    use super::super::{Event, Figures, Leg};
    use crate::Void;

    #[test]
    fn the_page_stands_by_itself_and_what_it_quotes_is_no_markup() {
        let void = Some(Void::Disturbed { why: "<busy>".to_owned() });
        let file = Some("/home/somebody/runs/0123abcd.wrun".to_owned());
        let page = report(vec![Leg { void, file, ..leg(1, Event::Speed, Figures::default()) }]).page("1.0");
        assert!(page.contains("a&lt;b&gt; 1.2") && page.contains("void: &lt;busy&gt;"), "{page}");
        assert!(page.contains("0123abcd.wrun") && !page.contains("somebody"), "{page}");
        for outside in ["<script", "src=", "href=", "http://", "https://", "url("] {
            assert!(!page.contains(outside), "{outside} in {page}");
        }
        assert_eq!(page.matches("<tr>").count(), page.matches("</tr>").count());
        for event in Event::ALL {
            assert!(page.contains(event.name()), "{}", event.name());
        }
    }
}
