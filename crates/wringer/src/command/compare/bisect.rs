//! `wringer compare --bisect`: the commit that made a server slower. git's own bisect searches; each step is built in a work tree of its own and compared
//! with the good commit by a process of this program, whose exit code git understands.

use crate::command::show;
use crate::problem::{Exit, Problem};
use crate::signals;
use cli::{CompareArgs, Range};
use decide::words;
use std::ffi::OsString;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// The code that git bisect run takes for "this one cannot be told".
const CANNOT_TELL: u8 = 125;
/// A code from which on git bisect run ends.
const ENDS: u8 = 128;
/// Options that the steps are not given, each with its value.
const OF_SEARCH: [&str; 3] = ["--bisect", "--build", "--json"];
/// A step: git's variables speak of the work tree and are nothing for the build, which has its folder; what is compared is so in the folder of whoever asked.
const STEP: &str = "unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX; (eval \"$1\") >&2 || exit 125; cd \"$0\" && shift && exec \"$@\" >&2";

/// The end of a comparison as git bisect run wants it: a comparison that could not be made tells nothing, one that cannot be meant ends the search.
pub fn exit_of(ended: Result<Exit, Problem>) -> Result<Exit, Problem> {
    let problem = match ended {
        Ok(Exit::Ok) => return Ok(Exit::Ok),
        Ok(Exit::Impossible) => return Ok(Exit::Code(CANNOT_TELL)),
        Ok(Exit::Usage | Exit::Wrong) => return Ok(Exit::Code(ENDS)),
        Ok(exit @ Exit::Code(_)) => return Ok(exit),
        Err(problem) => problem,
    };
    show::notice(&format!("wringer: {problem}"));
    Ok(Exit::Code(match problem {
        Problem::Impossible(_) => CANNOT_TELL,
        Problem::Usage(_) | Problem::Words { .. } => ENDS,
    }))
}

/// Searches for the commit.
///
/// # Errors
/// There is no git, no such commit, the good one cannot be built, or the bad one is not shown to be slower.
pub fn run(args: &CompareArgs, range: &Range, build: &str) -> Result<Exit, Problem> {
    signals::interrupted()?;
    let here = std::env::current_dir().map_err(|error| {
        Problem::impossible(format!("the folder that this is run in is not known: {error}"))
    })?;
    let good = commit(&here, &range.good)?;
    let bad = commit(&here, &range.bad)?;
    let trees = Trees::new(&here, &good, &bad)?;
    show::tell(&format!("building {} in {}", range.good, trees.good.display()));
    let built =
        Command::new("/bin/sh").arg("-c").arg(format!("({build}) >&2")).current_dir(&trees.good).status();
    if !built.as_ref().is_ok_and(ExitStatus::success) {
        let how = built.map_or_else(|error| error.to_string(), |status| status.to_string());
        return Err(Problem::impossible(format!("{} cannot be built: {how}", range.good)));
    }
    let step = step(args, &trees, &here, build);
    show::tell(&format!("first {} itself: is it slower than {}?", range.bad, range.good));
    match Command::new(&step[0]).args(&step[1..]).current_dir(&trees.candidate).stdout(Stdio::null()).status()
    {
        Ok(status) if status.code() == Some(1) => {}
        Ok(status) => return not_bad(range, status),
        Err(error) => return Err(Problem::impossible(format!("the first step cannot begin: {error}"))),
    }
    git(&trees.candidate, &["bisect", "start", &bad, &good])?;
    let mut search = Command::new("git");
    search.args(["bisect", "run"]).args(&step).current_dir(&trees.candidate).stdout(Stdio::null());
    let searched = search
        .status()
        .map_err(|error| Problem::impossible(format!("git bisect run cannot begin: {error}")))?;
    conclude(range, &trees, searched)
}

/// The bad commit is not shown to be bad.
fn not_bad(range: &Range, status: ExitStatus) -> Result<Exit, Problem> {
    let Range { good, bad } = range;
    match (signals::first(), status.code()) {
        (Some(signal), _) => {
            show::tell("ended by hand: nothing is concluded");
            Ok(Exit::of_signal(signal))
        }
        (None, Some(0)) => {
            show::say_line(&format!(
                "{bad} is not slower than {good} by what --fail-if says: there is no such commit to be found"
            ));
            Ok(Exit::Impossible)
        }
        (None, Some(125)) => Err(Problem::impossible(format!(
            "whether {bad} is slower than {good} cannot be told, so neither can that of what lies between: take more --pairs, or longer legs without --quick"
        ))),
        (None, _) => Err(Problem::impossible(format!("the first step ended with {status}"))),
    }
}

/// Says what git has found.
fn conclude(range: &Range, trees: &Trees, searched: ExitStatus) -> Result<Exit, Problem> {
    if let Some(signal) = signals::first() {
        show::tell("ended by hand: nothing is concluded");
        return Ok(Exit::of_signal(signal));
    }
    let at = &trees.candidate;
    let log = git(at, &["bisect", "log"])?;
    let steps =
        |word: &str| log.lines().filter(|line| line.starts_with(&format!("git bisect {word}"))).count();
    let compared = format!(
        "{} compared, {} could not be told",
        words::count(steps("good") + steps("bad"), "commit"),
        steps("skip")
    );
    let left =
        git(at, &["rev-list", "--bisect-all", "refs/bisect/bad", "--not", "--glob=refs/bisect/good-*"])?;
    let left: Vec<&str> = left.lines().filter_map(|line| line.split(' ').next()).collect();
    let told = |commit: &str| git(at, &["show", "--no-patch", "--format=%h %s (%an, %as)", commit]);
    match (searched.success(), left.as_slice()) {
        (true, [_]) => {
            let first = told("refs/bisect/bad")?;
            show::say_line(&format!("the first slower commit is {}", first.trim()));
            show::say_line(&format!(
                "{compared}; each was compared with {}, both started anew for each pair",
                range.good
            ));
            Ok(Exit::Ok)
        }
        (false, some) if some.len() > 1 && steps("skip") > 0 => {
            show::say_line(&format!(
                "CANNOT TELL WHICH of {} it is, since {} in a row could not be told: take more --pairs, or longer legs",
                words::count(some.len(), "commit"),
                words::count(steps("skip"), "commit")
            ));
            for commit in some {
                show::line(&format!("  {}", told(commit)?.trim()));
            }
            show::say_line(&compared);
            Ok(Exit::Impossible)
        }
        _ => Err(Problem::impossible(format!("git bisect run ended with {searched}; {compared}"))),
    }
}

/// The command of a step, to be run in the work tree of the candidate.
fn step(args: &CompareArgs, trees: &Trees, here: &Path, build: &str) -> Vec<OsString> {
    let mut typed: Vec<OsString> = std::env::args_os().skip(1).collect();
    let own = typed.iter().position(|word| word == "--").unwrap_or(typed.len());
    let work = typed.split_off(own);
    let mut kept: Vec<OsString> = Vec::new();
    let mut words = typed.into_iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy().into_owned();
        if OF_SEARCH.contains(&text.as_str()) {
            words.next();
        } else if !OF_SEARCH.iter().any(|option| text.starts_with(&format!("{option}="))) {
            kept.push(word);
        }
    }
    let sides: Vec<OsString> = if args.started.rig.is_empty() {
        let set = |side: &str, tree: &Path| -> OsString { format!("{side}:build={}", tree.display()).into() };
        vec!["--rig-set".into(), set("A", &trees.good), "--rig-set".into(), set("B", &trees.candidate)]
    } else {
        vec!["--from".into(), trees.good.clone().into(), "--from".into(), trees.candidate.clone().into()]
    };
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("wringer"));
    let begin: [OsString; 6] =
        ["/bin/sh".into(), "-c".into(), STEP.into(), here.into(), build.into(), program.into()];
    begin.into_iter().chain(kept).chain(sides).chain(["--for-bisect".into()]).chain(work).collect()
}

/// Work trees of the good commit and of the candidates; they go when this drops.
struct Trees {
    repository: PathBuf,
    good: PathBuf,
    candidate: PathBuf,
    /// Holds both.
    _folder: tempfile::TempDir,
}

impl Trees {
    fn new(here: &Path, good: &str, bad: &str) -> Result<Trees, Problem> {
        let folder = tempfile::Builder::new()
            .prefix("wringer-bisect-")
            .tempdir()
            .map_err(|error| Problem::impossible(format!("there is no folder for work trees: {error}")))?;
        // A rig that is started by root runs as nobody, who must be able to read its build.
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755))
            .map_err(|error| Problem::impossible(format!("the folder for work trees: {error}")))?;
        let [of_good, candidate] = ["good", "candidate"].map(|name| folder.path().join(name));
        let trees = Trees { repository: here.to_owned(), good: of_good, candidate, _folder: folder };
        for (tree, commit) in [(&trees.good, good), (&trees.candidate, bad)] {
            git(here, &["worktree", "add", "--detach", "--quiet", &tree.display().to_string(), commit])?;
        }
        Ok(trees)
    }
}

impl Drop for Trees {
    fn drop(&mut self) {
        for tree in [&self.good, &self.candidate] {
            // What cannot be removed lies in the temporary folder; git prunes its entry.
            let _ = git(&self.repository, &["worktree", "remove", "--force", &tree.display().to_string()]);
        }
    }
}

/// The number of a commit.
fn commit(here: &Path, name: &str) -> Result<String, Problem> {
    let found = git(here, &["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")]);
    found.map(|commit| commit.trim().to_owned()).map_err(|problem| {
        Problem::Usage(format!(
            "--bisect: there is no commit {name} in the repository of {}: {problem}",
            here.display()
        ))
    })
}

/// Runs git, and returns what it said.
fn git(folder: &Path, words: &[&str]) -> Result<String, Problem> {
    let failed = |why: String| Problem::impossible(format!("git {}: {why}", words.join(" ")));
    let ran = Command::new("git")
        .args(words)
        .current_dir(folder)
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !ran.status.success() {
        let said = String::from_utf8_lossy(&ran.stderr);
        return Err(failed(if said.trim().is_empty() {
            ran.status.to_string()
        } else {
            said.trim().to_owned()
        }));
    }
    Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
}
