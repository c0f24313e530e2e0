//! A desk to work at: an empty folder, the command, and small data sets whose answers are known.

use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;

/// A folder of its own in which the command runs.
pub struct Desk {
    folder: TempDir,
}

/// What a command left behind.
pub struct Session {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// The command itself.
pub const GNAN: &str = env!("CARGO_BIN_EXE_gnan");

impl Desk {
    pub fn new() -> Desk {
        Desk { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// The command with its arguments as one would type them; words are separated by blanks.
    pub fn command(&self, line: &str) -> assert_cmd::Command {
        let mut command = assert_cmd::Command::new(GNAN);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GNAN_")) {
            command.env_remove(name);
        }
        command.current_dir(self.folder.path()).args(line.split_whitespace());
        command
    }

    /// Runs the command.
    pub fn gnan(&self, line: &str) -> Session {
        Session::of(&mut self.command(line))
    }

    /// Runs the command and expects it to succeed.
    pub fn works(&self, line: &str) -> Session {
        self.gnan(line).expect(0)
    }

    /// Runs the command with `--json` and reads the document.
    pub fn json(&self, line: &str) -> Value {
        self.works(&format!("{line} --json")).document()
    }

    /// Sixty chains of three to seven atoms; a chain is toxic if it holds nitrogen.
    pub fn molecules(&self, folder: &str) {
        let (mut nodes, mut edges, mut graphs) = (
            "graph_id,node_id,element,mass\n".to_owned(),
            "graph_id,source,target\n".to_owned(),
            "graph_id,toxic\n".to_owned(),
        );
        for graph in 0..60usize {
            let mut toxic = false;
            for node in 0..3 + graph % 5 {
                let element = ["C", "O", "C", "N", "C"][(graph * graph + node * (graph % 3)) % 5];
                toxic |= element == "N";
                nodes.push_str(&format!("g{graph},a{node},{element},{}\n", 12 + (graph + node) % 4));
                if node > 0 {
                    edges.push_str(&format!("g{graph},a{},a{node}\n", node - 1));
                }
            }
            graphs.push_str(&format!("g{graph},{}\n", if toxic { "yes" } else { "no" }));
        }
        self.write(&format!("{folder}/nodes.csv"), &nodes);
        self.write(&format!("{folder}/edges.csv"), &edges);
        self.write(&format!("{folder}/graphs.csv"), &graphs);
    }

    /// One ring of ninety people, every ninth without a label; the label is what the age says, in three classes.
    pub fn people(&self, folder: &str) {
        let (mut nodes, mut edges) = ("node_id,age,group,label\n".to_owned(), "source,target\n".to_owned());
        for person in 0..90usize {
            let age = (person * 37) % 90;
            let label = if person % 9 == 8 { "" } else { ["young", "grown", "old"][age / 30] };
            nodes.push_str(&format!("p{person},{age},{},{label}\n", ["a", "b"][person % 2]));
            edges.push_str(&format!("p{person},p{}\n", (person + 1) % 90));
        }
        self.write(&format!("{folder}/nodes.csv"), &nodes);
        self.write(&format!("{folder}/edges.csv"), &edges);
    }
}

impl Session {
    pub fn of(command: &mut assert_cmd::Command) -> Session {
        let output = command.output().expect("the command runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Session { code: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Demands an exit code, showing what was said if it is another.
    #[track_caller]
    pub fn expect(self, code: i32) -> Session {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Demands words on stderr.
    #[track_caller]
    pub fn says(self, words: &str) -> Session {
        assert!(self.stderr.contains(words), "\"{words}\" is not in stderr:\n{}", self.stderr);
        self
    }

    /// Demands words on stdout.
    #[track_caller]
    pub fn shows(self, words: &str) -> Session {
        assert!(self.stdout.contains(words), "\"{words}\" is not in stdout:\n{}", self.stdout);
        self
    }

    /// The one JSON document on stdout.
    #[track_caller]
    pub fn document(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in stdout:\n{}", self.stdout))
    }
}
