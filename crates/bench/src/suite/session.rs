//! One run of a workload: its means, and the file of its figures.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use outboard_programs::{Cores, OpenSsl, Workplace};

use super::{Comparison, Measure, Options, Progress, Rounds, Step, Workload, stop};
use crate::Failure;
use crate::installation::Installation;
use crate::proof::{Expected, Proof};
use crate::result::{Machine, ResultFile, Row, SCHEMA, Table, VERSION, Watch, tame};

/// What a workload has at hand while it runs.
#[derive(Debug)]
pub struct Session<'a> {
    /// The directory that all is done in.
    pub workplace: Workplace,
    /// The directory of what is measured in this very process, for all workloads: a process has one
    /// ledger for all its life.
    pub in_process: &'a Workplace,
    /// One for servers, one for clients.
    pub cores: Cores,
    /// OpenSSL's configuration without Outboard.
    pub stock: OpenSsl,
    /// What is measured.
    pub installation: &'a Installation,
    options: &'a Options,
    directory: &'a Path,
    progress: &'a mut Progress,
    /// Steps that have not begun.
    plan: Vec<Step>,
    watch: Watch,
    result: ResultFile,
}

impl<'a> Session<'a> {
    pub(super) fn begin(
        workload: &dyn Workload,
        options: &'a Options,
        installation: &'a Installation,
        in_process: &'a Workplace,
        directory: &'a Path,
        progress: &'a mut Progress,
    ) -> Result<Self, Failure> {
        let workplace = Workplace::in_memory(workload.space(options))?;
        let watch = Watch::begin();
        progress.workload(workload.name());
        let began = SystemTime::now().duration_since(UNIX_EPOCH);
        let mut command = format!("outboard-bench run {}", workload.name());
        command += options.pick("", " --quick", " --tiny");
        if options.all {
            command += " --all";
        }
        let only = options.only.iter().map(String::as_str);
        let only: Vec<&str> = only
            .filter(|part| workload.parts().contains(part))
            .collect();
        if !only.is_empty() {
            command += &format!(" --only {}", only.join(","));
        }
        let peers = options.peers.iter().filter(|peer| workload.takes(peer));
        let peers: Vec<&str> = peers.map(|peer| peer.name.as_str()).collect();
        if !peers.is_empty() {
            command += &format!(" --peers {}", peers.join(","));
        }
        let session = Self {
            stock: OpenSsl::stock(&workplace)?,
            workplace,
            in_process,
            cores: Cores::choose(),
            installation,
            options,
            directory,
            progress,
            plan: workload.plan(options),
            watch,
            result: ResultFile {
                schema: SCHEMA.to_owned(),
                version: VERSION,
                workload: workload.name().to_owned(),
                summary: workload.summary().to_owned(),
                outboard: env!("CARGO_PKG_VERSION").to_owned(),
                extent: options.extent,
                began: began.map_or(0, |began| began.as_secs()),
                seconds: 0.0,
                complete: false,
                failure: None,
                machine: Machine::this(),
                noise: Default::default(),
                versions: Default::default(),
                commands: vec![command],
                notes: Vec::new(),
                tables: Vec::new(),
            },
        };
        session.save()?;
        Ok(session)
    }

    /// What the user asked for.
    pub fn options(&self) -> &'a Options {
        self.options
    }

    /// Begins the plan's step of that name; the one before is done.
    pub fn step(&mut self, name: &str) {
        let planned = self.plan.iter().position(|step| step.name == name);
        let step = planned.map(|index| self.plan.remove(index));
        self.progress
            .step(step.unwrap_or_else(|| Step::new(name, 0.0)));
    }

    /// Sets the part of the step that is done, 0 to 1. [`Session::alternate`] does this itself.
    pub fn fraction(&mut self, fraction: f64) {
        self.progress.fraction(fraction);
    }

    /// Outboard's configuration with a ledger of its own of that name.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn outboard(&self, ledger: &str) -> Result<OpenSsl, Failure> {
        let outboard = &self.installation.outboard;
        Ok(OpenSsl::outboard(&self.workplace, outboard, ledger)?)
    }

    /// Whether the ledger of that configuration contains the expected operations. Stock needs no proof.
    ///
    /// # Errors
    /// If the command `outboard` fails.
    pub fn proof(&self, openssl: &OpenSsl, expected: &[Expected]) -> Result<Proof, Failure> {
        self.installation.proofs.find(openssl, expected)
    }

    /// Something a reader has to know beside the figures; it will begin with the workload's name, as it may
    /// be read far from them.
    pub fn note(&mut self, text: impl AsRef<str>) {
        let text = format!("{}: {}", self.result.workload, text.as_ref());
        if !self.result.notes.contains(&text) {
            self.result.notes.push(text);
        }
    }

    /// The version of a program that takes part.
    pub fn version(&mut self, program: &str, version: impl Into<String>) {
        let version = tame(&version.into());
        self.result.versions.insert(program.to_owned(), version);
    }

    /// A command that was run, as one could type it.
    pub fn command(&mut self, command: impl Into<String>) {
        let command = command.into();
        if !self.result.commands.contains(&command) {
            self.result.commands.push(command);
        }
    }

    /// Begins a table, unless it is there already. A table that gets no row is not written.
    pub fn table(&mut self, name: &str, title: &str, columns: &[&str]) {
        if self.result.table(name).is_none() {
            self.result.tables.push(Table {
                name: name.to_owned(),
                title: title.to_owned(),
                columns: columns.iter().map(|&column| column.to_owned()).collect(),
                rows: Vec::new(),
            });
        }
    }

    /// Lets setups take turns; the first is the baseline. `measure` gets this session and the
    /// setup's place in `setups`, and answers one value for each measure. See
    /// [`Comparison::take_turns`].
    ///
    /// # Errors
    /// The first that `measure` gives.
    pub fn alternate(
        &mut self,
        setups: &[&str],
        rounds: Rounds,
        mut measure: impl FnMut(&Self, usize) -> Result<Vec<f64>, Failure>,
    ) -> Result<Comparison, Failure> {
        let session = std::cell::RefCell::new(self);
        Comparison::take_turns(
            setups,
            rounds,
            |setup| measure(&session.borrow(), setup),
            |fraction| session.borrow_mut().fraction(fraction),
        )
    }

    /// Puts a comparison's figures into a table, and on disk. There is one proof for each setup, or
    /// none at all where there is nothing to prove.
    ///
    /// # Errors
    /// If the result cannot be written.
    pub fn record(
        &mut self,
        table: &str,
        labels: &[(&str, &str)],
        measures: &[Measure],
        comparison: &Comparison,
        proofs: &[Proof],
    ) -> Result<(), Failure> {
        self.rows(table, comparison.rows(labels, measures, proofs))
    }

    /// Puts rows into a table, and on disk.
    ///
    /// # Errors
    /// If the result cannot be written.
    ///
    /// # Panics
    /// If the table was not begun: a mistake of ours.
    pub fn rows(&mut self, table: &str, rows: Vec<Row>) -> Result<(), Failure> {
        let mut tables = self.result.tables.iter_mut();
        tables
            .find(|candidate| candidate.name == table)
            .expect("a table is begun before it gets rows")
            .rows
            .extend(rows);
        self.save()
    }

    /// Ends it, as a success or with what stopped it.
    pub(super) fn finish(mut self, outcome: Result<(), Failure>) -> Result<ResultFile, Failure> {
        if let Err(failure) = outcome {
            stop::wait_if_stopped();
            self.result.failure = Some(tame(&failure.to_string()));
        } else {
            self.result.complete = true;
        }
        self.save()?;
        let left_out = self.plan.iter().map(|step| step.seconds).sum();
        self.progress.leave_out(left_out);
        Ok(self.as_it_stands())
    }

    /// The result of now: an interruption may make it the last.
    fn as_it_stands(&self) -> ResultFile {
        let mut result = self.result.clone();
        result.tables.retain(|table| !table.rows.is_empty());
        result.seconds = (self.watch.elapsed().as_secs_f64() * 10.0).round() / 10.0;
        result.noise = self.watch.noise(&result);
        result
    }

    fn save(&self) -> Result<(), Failure> {
        let result = self.as_it_stands();
        let _writing = stop::writing();
        result.save(self.directory).map_err(|error| {
            format!(
                "cannot write {}: {error}",
                result.path_in(self.directory).display()
            )
        })?;
        Ok(())
    }
}
