//! All of CI: named steps, the cheap ones first, ending at the first that fails.

use std::time::{Duration, Instant};

use crate::{
    Result, dependencies, dist, docs, fuzz, instructions, memory, quick, root, setup, shell, tidy, web,
};

struct Step {
    name: &'static str,
    run: fn() -> Result<()>,
}

const STEPS: [Step; 16] = [
    Step { name: "setup", run: setup },
    Step { name: "fmt", run: || cargo(&["fmt", "--all", "--check"]) },
    Step { name: "tidy", run: || tidy::run(&root()) },
    Step { name: "dependencies", run: dependencies::run },
    Step { name: "docs", run: || docs::run(&root()) },
    Step { name: "page", run: web::check },
    Step {
        name: "clippy",
        run: || cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
    },
    // What packagers may leave out.
    Step {
        name: "features",
        run: || cargo(&["clippy", "--package", "wringer", "--no-default-features", "--", "-D", "warnings"]),
    },
    Step { name: "build", run: shell::build_with_tests },
    // Of what was built just now.
    Step { name: "package", run: dist::check },
    Step { name: "docs commands", run: || docs::try_commands(&root()) },
    // The README's second command, as it stands there.
    Step { name: "test", run: || cargo(&["xtask", "test"]) },
    Step { name: "browser", run: web::test },
    Step { name: "instructions", run: || instructions::run(&[]) },
    Step { name: "memory", run: || memory::run(&[]) },
    Step { name: "fuzz", run: || fuzz::run(&fuzz::parse(&[])?) },
];

/// `cargo xtask ci`.
pub fn run() -> Result<()> {
    let began = Instant::now();
    for step in &STEPS {
        let step_began = Instant::now();
        println!("ci: {} …", step.name);
        if let Err(problem) = (step.run)() {
            let step_took = shown(step_began.elapsed());
            let took = shown(began.elapsed());
            return Err(format!("{problem}\nci: FAILED at {} after {step_took}, {took} in all", step.name));
        }
        println!("ci: {} ok in {}", step.name, shown(step_began.elapsed()));
    }
    println!("ci: all {} steps ok in {}", STEPS.len(), shown(began.elapsed()));
    Ok(())
}

/// `cargo xtask test`: what the README tells people to run.
pub fn test(arguments: &[String]) -> Result<()> {
    if let [quick, named @ ..] = arguments
        && quick == "--quick"
    {
        return quick::run(named);
    }
    let missing = setup::run(setup::Extent::Tests)?;
    // One crate that fails does not hide another.
    let mut command = shell::cargo(["test", "--workspace", "--no-fail-fast"]);
    shell::run(command.args(arguments))?;
    if !missing.is_empty() {
        println!("test: skipped what needs {}, which is not installed", missing.join(", "));
    }
    Ok(())
}

fn setup() -> Result<()> {
    setup::add_components();
    setup::run(setup::Extent::Tests).map(drop)
}

fn cargo(arguments: &[&str]) -> Result<()> {
    shell::run(&mut shell::cargo(arguments))
}

fn shown(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 60.0 {
        return format!("{seconds:.1} s");
    }
    format!("{} min {:02} s", time.as_secs() / 60, time.as_secs() % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        assert_eq!(shown(Duration::from_millis(1240)), "1.2 s");
        assert_eq!(shown(Duration::from_secs(125)), "2 min 05 s");
    }
}
