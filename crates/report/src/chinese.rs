//! The text for people in Chinese: finished English text is taken apart and said again by a catalogue, `chinese/sentences.txt`.
//!
//! A line there is an English template, a tab, and the Chinese one. `{}` in English is something filled in, `(s)` the end of a noun that
//! may be there; in Chinese, `{1}` is the first of these as it is, `{1?}` said in Chinese where it is known, and `{1!}` too, but only
//! what is known fits. Sentences, and parts of them between `;`, `:` and `,`, are looked for together and one by one, and the reading
//! that knows most of the letters is taken. So a template has no full stop at its end, and a list needs one for each of its parts only.
//! Names of breaches and codes are in the catalogue of [`breach`] and not here.
//!
//! `chinese/decisions.txt` has what only the decision commands say and `chinese/recordings.txt` what those do that have to do with
//! recordings; their pages are read line by line, by [`lines`], and reports of runs do not look there. `chinese/replays.txt` has notes of replays
//! and live copies, which stand in reports, too. `{#}` in English is something filled in that is a number, `{~}` words without `;` and `:`.

pub mod lines;

use breach::{Breach, Protocol};
use std::collections::HashMap;
use std::sync::OnceLock;

const SENTENCES: &str = include_str!("chinese/sentences.txt");
const DECISIONS: &str = include_str!("chinese/decisions.txt");
const RECORDINGS: &str = include_str!("chinese/recordings.txt");
const REPLAYS: &str = include_str!("chinese/replays.txt");

/// Marks between parts of a text, in English and in Chinese, the farthest apart first.
const BETWEEN: [(&str, &str); 4] = [(". ", "。"), ("; ", "；"), (": ", "："), (", ", "，")];
/// Marks at the end of a sentence.
const ENDS: [(char, char); 2] = [('.', '。'), (':', '：')];

/// A text in Chinese, as far as it is known.
pub fn say(english: &str) -> String {
    let indent = english.len() - english.trim_start_matches(' ').len();
    let said = ChineseReader::new(false).read(&english[indent..], 0);
    format!("{}{}", &english[..indent], said.text)
}

/// Text in Chinese, and how many letters of the English one were known.
#[derive(Debug, Clone)]
struct Said {
    text: String,
    known: usize,
}

/// One sentence of the catalogue.
struct ChineseTemplate {
    /// English parts, between which something is filled in.
    parts: Vec<String>,
    /// Kinds of that.
    fits: Vec<Fits>,
    /// Chinese ones.
    chinese: Vec<ChinesePiece>,
    /// Letters of the English parts.
    letters: usize,
}

/// Kinds of what may be filled in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fits {
    Anything,
    Number,
    Words,
}

impl Fits {
    const ALL: [(Fits, &'static str); 3] =
        [(Fits::Anything, "{}"), (Fits::Number, "{#}"), (Fits::Words, "{~}")];

    fn holds(self, value: &str) -> bool {
        match self {
            Fits::Anything => true,
            Fits::Number => is_number(value),
            Fits::Words => !value.contains([';', ':']),
        }
    }
}

/// A piece of a Chinese template.
enum ChinesePiece {
    Words(&'static str),
    /// A filling, by its place in English.
    Filled(usize, Filling),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Filling {
    AsItIs,
    SaidIfKnown,
    Known,
}

/// The templates of a file.
fn templates(text: &'static str) -> impl Iterator<Item = ChineseTemplate> {
    let pairs = text.lines().filter(|line| !line.starts_with('#'));
    pairs
        .filter_map(|line| line.split_once('\t'))
        .flat_map(|(english, chinese)| ChineseTemplate::all(english, chinese))
}

/// Templates of pages that are no report of a run.
fn of_pages() -> &'static [ChineseTemplate] {
    static OF_PAGES: OnceLock<Vec<ChineseTemplate>> = OnceLock::new();
    OF_PAGES.get_or_init(|| templates(DECISIONS).chain(templates(RECORDINGS)).collect())
}

fn catalogue() -> &'static [ChineseTemplate] {
    static CATALOGUE: OnceLock<Vec<ChineseTemplate>> = OnceLock::new();
    CATALOGUE.get_or_init(|| {
        let breaches = || Breach::all().map(Breach::entry);
        let words = breaches().map(|entry| (entry.text, entry.chinese));
        let advice = breaches().map(|entry| (entry.advice.english, entry.advice.chinese));
        let protocols = [Protocol::Http2, Protocol::Http3, Protocol::Quic, Protocol::Tls];
        let codes = protocols.into_iter().flat_map(breach::codes::of);
        let codes = codes.map(|entry| (entry.meaning, entry.chinese));
        templates(SENTENCES)
            .chain(templates(REPLAYS))
            .chain(
                words
                    .chain(advice)
                    .chain(codes)
                    .map(|(english, chinese)| ChineseTemplate::plain(english, chinese)),
            )
            .collect()
    })
}

impl ChineseTemplate {
    /// The template with and without each end of a noun.
    fn all(english: &str, chinese: &'static str) -> Vec<ChineseTemplate> {
        match english.split_once("(s)") {
            Some((before, behind)) => ["", "s"]
                .iter()
                .flat_map(|end| ChineseTemplate::all(&format!("{before}{end}{behind}"), chinese))
                .collect(),
            None => vec![ChineseTemplate::one(english, chinese)],
        }
    }

    fn one(english: &str, chinese: &'static str) -> ChineseTemplate {
        let of =
            |(fits, mark): (Fits, &'static str)| english.match_indices(mark).map(move |(at, _)| (at, fits));
        let mut places: Vec<(usize, Fits)> = Fits::ALL.into_iter().flat_map(of).collect();
        places.sort_unstable();
        let plain = Fits::ALL.iter().fold(english.to_owned(), |text, (_, mark)| text.replace(mark, "{}"));
        let parts: Vec<String> = plain.split("{}").map(str::to_owned).collect();
        ChineseTemplate {
            letters: parts.iter().map(String::len).sum(),
            parts,
            fits: places.into_iter().map(|(_, fits)| fits).collect(),
            chinese: pieces(chinese),
        }
    }

    /// Text of another catalogue, which may end with a full stop and has nothing to be filled in.
    fn plain(english: &str, chinese: &'static str) -> ChineseTemplate {
        let english = english.strip_suffix('.').unwrap_or(english);
        let chinese = chinese.strip_suffix('。').unwrap_or(chinese);
        ChineseTemplate {
            parts: vec![english.to_owned()],
            fits: Vec::new(),
            chinese: vec![ChinesePiece::Words(chinese)],
            letters: english.len(),
        }
    }

    /// Fillings between the parts; `None`: the text is no such sentence.
    fn taken<'a>(&self, text: &'a str) -> Option<Vec<&'a str>> {
        if text.len() < self.letters {
            return None;
        }
        let (first, rest) = self.parts.split_first()?;
        let left = text.strip_prefix(first.as_str())?;
        let Some((last, middle)) = rest.split_last() else { return left.is_empty().then(Vec::new) };
        // The end first, as looking for what is between takes longest.
        let mut left = left.strip_suffix(last.as_str())?;
        let mut values = Vec::new();
        for part in middle {
            let (value, behind) = left.split_once(part.as_str())?;
            values.push(value);
            left = behind;
        }
        values.push(left);
        let fits = |(value, fits): (&&str, &Fits)| !value.is_empty() && is_closed(value) && fits.holds(value);
        values.iter().zip(&self.fits).all(fits).then_some(values)
    }
}

/// True for a number as people read it, with what stands at it without a blank: `1,024`, `+7.2`, `15.5k/s`.
fn is_number(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-', '<', '>', '≥']);
    digits.starts_with(|first: char| first.is_ascii_digit()) && !text.contains(' ')
}

/// True if each parenthesis in it is closed: what begins in one and ends in another is no part of a sentence.
fn is_closed(text: &str) -> bool {
    let depth = text.chars().try_fold(0_usize, |depth, letter| match letter {
        '(' => Some(depth + 1),
        ')' => depth.checked_sub(1),
        _ => Some(depth),
    });
    depth == Some(0)
}

/// The pieces of a Chinese template.
fn pieces(chinese: &'static str) -> Vec<ChinesePiece> {
    let mut pieces = Vec::new();
    let mut left = chinese;
    while let Some((words, rest)) = left.split_once('{') {
        let Some((place, behind)) = rest.split_once('}') else { break };
        let filling = match place.as_bytes().last() {
            Some(b'!') => Filling::Known,
            Some(b'?') => Filling::SaidIfKnown,
            _ => Filling::AsItIs,
        };
        pieces.push(ChinesePiece::Words(words));
        let number = place.trim_end_matches(['!', '?']).parse::<usize>();
        pieces.extend(
            number
                .ok()
                .and_then(|number| number.checked_sub(1))
                .map(|place| ChinesePiece::Filled(place, filling)),
        );
        left = behind;
    }
    pieces.push(ChinesePiece::Words(left));
    pieces
}

/// Reads one text, whose parts are looked at more than once.
struct ChineseReader<'a> {
    memory: HashMap<(&'a str, usize), Said>,
    /// Texts as one sentence.
    wholes: HashMap<&'a str, Said>,
    /// True if what only pages say is known, too.
    is_page: bool,
}

impl<'a> ChineseReader<'a> {
    fn new(is_page: bool) -> ChineseReader<'a> {
        ChineseReader { memory: HashMap::new(), wholes: HashMap::new(), is_page }
    }

    /// The text, taken apart at what is at `level` of [`BETWEEN`], and nearer, where that tells more.
    fn read(&mut self, text: &'a str, level: usize) -> Said {
        if let Some(said) = self.memory.get(&(text, level)) {
            return said.clone();
        }
        // Against sentences that hold themselves.
        self.memory.insert((text, level), Said { text: text.to_owned(), known: 0 });
        let mut best = self.whole(text);
        for (level, (english, chinese)) in BETWEEN.iter().enumerate().skip(level) {
            if text.contains(english) {
                let parted = self.parted(text, level, english, chinese);
                if parted.known > best.known {
                    best = parted;
                }
            }
        }
        self.memory.insert((text, level), best.clone());
        best
    }

    /// The text as one sentence of the catalogue, with its end or without.
    fn whole(&mut self, text: &'a str) -> Said {
        if let Some(said) = self.wholes.get(text) {
            return said.clone();
        }
        let said = self.sentence(text);
        self.wholes.insert(text, said.clone());
        said
    }

    fn sentence(&mut self, text: &'a str) -> Said {
        let mut best = Said { text: text.to_owned(), known: 0 };
        let more: &[ChineseTemplate] = if self.is_page { of_pages() } else { &[] };
        for template in more.iter().chain(catalogue()) {
            if let Some(said) = self.filled(template, text).filter(|said| said.known > best.known) {
                best = said;
            }
        }
        let end = ENDS.iter().find_map(|(english, chinese)| Some((text.strip_suffix(*english)?, chinese)));
        let Some((without, end)) = end.filter(|(without, _)| !without.is_empty()) else { return best };
        let said = self.read(without, 0);
        if said.known < best.known || said.known == 0 {
            return best;
        }
        Said { text: format!("{}{end}", said.text), known: said.known + 1 }
    }

    fn filled(&mut self, template: &ChineseTemplate, text: &'a str) -> Option<Said> {
        let values = template.taken(text)?;
        let mut said = Said { text: String::new(), known: template.letters };
        for piece in &template.chinese {
            match piece {
                ChinesePiece::Words(words) => said.text.push_str(words),
                ChinesePiece::Filled(place, Filling::AsItIs) => said.text.push_str(values.get(*place)?),
                ChinesePiece::Filled(place, filling) => {
                    let value = self.read(values.get(*place)?, 0);
                    if *filling == Filling::Known && value.known == 0 {
                        return None;
                    }
                    said.text.push_str(&value.text);
                    said.known += value.known;
                }
            }
        }
        Some(said)
    }

    /// The text in the parts between which `english` stands; some of them may belong together.
    fn parted(&mut self, text: &'a str, level: usize, english: &str, chinese: &str) -> Said {
        let ends: Vec<usize> = text.match_indices(english).map(|(at, _)| at).chain([text.len()]).collect();
        // The best reading up to each of the ends.
        let mut best: Vec<Said> = Vec::new();
        for (last, end) in ends.iter().enumerate() {
            let readings = (0..=last).map(|first| {
                let begin = first.checked_sub(1).map_or(0, |before| ends[before] + english.len());
                // The whole is read elsewhere.
                let whole = (first, *end) == (0, text.len());
                let part = &text[begin..*end];
                let said =
                    if whole { Said { text: part.to_owned(), known: 0 } } else { self.read(part, level + 1) };
                let Some(before) = first.checked_sub(1).map(|before| &best[before]) else { return said };
                let is_known = said.known > 0 || before.known > 0;
                let between = if is_known { chinese } else { english };
                Said {
                    text: format!("{}{between}{}", before.text, said.text),
                    known: before.known + said.known,
                }
            });
            let most = readings.reduce(|most, one| if one.known > most.known { one } else { most });
            best.extend(most);
        }
        best.pop().expect("a text has an end")
    }
}
