//! A process that calls a module as fast as it can.
//!
//! The process is this program again. A line of its input names a task and how many milliseconds it lasts; the answer is how
//! often it was done, and in how many nanoseconds.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::mechanism::Mechanism;
use cryptoki::mechanism::aead::GcmParams;
use cryptoki::object::{Attribute, KeyType, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::slot::Slot;
use cryptoki::types::AuthPin;
use cryptoki_sys::{CK_MECHANISM_TYPE, CKM_ECDSA, CKM_RSA_PKCS};
use outboard_measure::{Contender, Context, Keys, Library, Workload};

use super::module::Module;
use super::outstanding::Outstanding;
use crate::Failure;
use crate::workloads::process::{Process, Window};

/// Bytes of a record.
pub(super) const RECORD: usize = 8192;

/// What the process is told.
#[derive(Clone, Debug, clap::Args)]
pub struct CallerArguments {
    module: PathBuf,
    token: String,
    #[arg(long)]
    pin: Option<String>,
    /// The label of a key to sign with; otherwise the process makes one
    #[arg(long)]
    key: Option<String>,
    #[arg(long, default_value = "p256")]
    kind: Kind,
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

/// What a key is.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Kind {
    Rsa2048,
    Rsa4096,
    P256,
    P384,
}

/// What a window is filled with.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Task {
    /// Signatures, by every thread.
    Sign,
    /// Signatures by one thread, eight of them outstanding.
    Outstanding,
    /// AES-256-GCM of a record.
    Seal,
    /// SHA-256 of a record.
    Digest,
    /// [`Seal`](Self::Seal) by EVP.
    EvpSeal,
    /// [`Digest`](Self::Digest) by EVP.
    EvpDigest,
    /// Opens a session, finds one object by its label, and closes it.
    Find,
    /// Makes an object and destroys it.
    Make,
    /// Not how long, but how many objects are to be there.
    Fill,
}

/// The process.
///
/// # Errors
/// If the module fails, or there is no such token or key.
pub fn serve(arguments: &CallerArguments) -> Result<ExitCode, Failure> {
    let module = Pkcs11::new(&arguments.module)?;
    module.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK))?;
    let slot = slot_of(&module, &arguments.token)?;
    let session = module.open_rw_session(slot)?;
    if let Some(pin) = &arguments.pin {
        session.login(UserType::User, Some(&AuthPin::new(pin.clone().into())))?;
    }
    let mut caller = Caller {
        arguments,
        module: &module,
        slot,
        session,
        signing: None,
        outstanding: None,
        sealing: None,
        evp: None,
        objects: 0,
    };
    for line in std::io::stdin().lines() {
        let line = line?;
        let (task, number) = line.split_once(' ').ok_or("a task and a number")?;
        let (count, elapsed) = caller.run(Task::from_str(task, false)?, number.parse()?)?;
        println!("{count} {}", elapsed.as_nanos());
    }
    Ok(ExitCode::SUCCESS)
}

fn slot_of(module: &Pkcs11, label: &str) -> Result<Slot, Failure> {
    for slot in module.get_slots_with_token()? {
        if module.get_token_info(slot)?.label().trim_end() == label {
            return Ok(slot);
        }
    }
    Err(format!("the module has no token '{label}'").into())
}

struct Caller<'a> {
    arguments: &'a CallerArguments,
    module: &'a Pkcs11,
    slot: Slot,
    session: Session,
    signing: Option<(ObjectHandle, Vec<Session>)>,
    outstanding: Option<Outstanding>,
    sealing: Option<ObjectHandle>,
    evp: Option<[Box<Contender<'static>>; 2]>,
    objects: u64,
}

impl Caller<'_> {
    fn run(&mut self, task: Task, number: u64) -> Result<(u64, Duration), Failure> {
        let length = Duration::from_millis(number);
        match task {
            Task::Sign => self.sign(length),
            Task::Outstanding => self.sign_asynchronously(length),
            Task::Seal => self.seal(length),
            Task::Digest => Ok(repeat(length, || {
                let digest = self.session.digest(&Mechanism::Sha256, &[0x61; RECORD]);
                digest.map(drop)
            })?),
            Task::EvpSeal => self.evp(0, length),
            Task::EvpDigest => self.evp(1, length),
            Task::Find => Ok(repeat(length, || self.find())?),
            Task::Make => Ok(repeat(length, || {
                let object = self.session.create_object(&data("passing"))?;
                self.session.destroy_object(object)
            })?),
            Task::Fill => {
                for object in self.objects..number {
                    self.session
                        .create_object(&data(&format!("object {object}")))?;
                }
                self.objects = number;
                Ok((number, Duration::ZERO))
            }
        }
    }

    fn sign(&mut self, length: Duration) -> Result<(u64, Duration), Failure> {
        if self.signing.is_none() {
            let key = self.key()?;
            let sessions =
                (0..self.arguments.threads).map(|_| self.module.open_rw_session(self.slot));
            self.signing = Some((key, sessions.collect::<Result<_, _>>()?));
        }
        let (key, sessions) = self.signing.as_mut().ok_or("made above")?;
        let (key, kind) = (*key, self.arguments.kind);
        let start = Instant::now();
        let counts = std::thread::scope(|scope| {
            let threads = sessions.iter_mut().map(|session| {
                scope.spawn(move || {
                    repeat(length, || {
                        let (mechanism, input) = kind.mechanism();
                        session.sign(&mechanism, key, input).map(drop)
                    })
                })
            });
            let threads: Vec<_> = threads.collect();
            let counts = threads.into_iter().map(|thread| match thread.join() {
                Ok(counted) => counted.map(|(count, _)| count),
                Err(panic) => std::panic::resume_unwind(panic),
            });
            counts.sum::<cryptoki::error::Result<u64>>()
        });
        Ok((counts?, start.elapsed()))
    }

    fn sign_asynchronously(&mut self, length: Duration) -> Result<(u64, Duration), Failure> {
        let outstanding = match &mut self.outstanding {
            Some(outstanding) => outstanding,
            None => {
                let (module, slot) = (&self.arguments.module, self.slot.id());
                let made = Outstanding::new(module, slot, self.key()?.handle())?;
                self.outstanding.insert(made)
            }
        };
        let kind = self.arguments.kind;
        let mut count = 0;
        let (_, elapsed) = repeat(length, || {
            count += outstanding.sign(kind.number(), kind.mechanism().1)?;
            Ok::<_, Failure>(())
        })?;
        Ok((count, elapsed))
    }

    /// The key that was named, or a new one.
    fn key(&self) -> Result<ObjectHandle, Failure> {
        if let Some(label) = &self.arguments.key {
            let named = [
                Attribute::Class(ObjectClass::PRIVATE_KEY),
                Attribute::Label(label.as_bytes().to_vec()),
            ];
            let found = self.session.find_objects(&named)?.into_iter().next();
            return found.ok_or_else(|| format!("the token has no key '{label}'").into());
        }
        let (mechanism, public) = self.arguments.kind.generation();
        let private = [Attribute::Token(false), Attribute::Sign(true)];
        let (_, private) = self
            .session
            .generate_key_pair(&mechanism, &public, &private)?;
        Ok(private)
    }

    fn seal(&mut self, length: Duration) -> Result<(u64, Duration), Failure> {
        let key = match self.sealing {
            Some(key) => key,
            None => {
                let template = [
                    Attribute::Class(ObjectClass::SECRET_KEY),
                    Attribute::KeyType(KeyType::AES),
                    Attribute::Value(vec![0x42; 32]),
                    Attribute::Encrypt(true),
                ];
                *self.sealing.insert(self.session.create_object(&template)?)
            }
        };
        let mut nonce = 0_u64;
        let done = repeat(length, || {
            nonce += 1;
            let mut iv = [0; 12];
            iv[..8].copy_from_slice(&nonce.to_le_bytes());
            let parameters = GcmParams::new(&mut iv, &[], 128.into())?;
            self.session
                .encrypt(&Mechanism::AesGcm(parameters), key, &[0x61; RECORD])
                .map(drop)
        });
        Ok(done?)
    }

    fn evp(&mut self, which: usize, length: Duration) -> Result<(u64, Duration), Failure> {
        if self.evp.is_none() {
            let context = Context::new(&Library::open(Library::SYSTEM)?)?;
            let keys = Keys::new(&context);
            let prepare = |name: &str| {
                let mut table = Workload::table(&[RECORD]).into_iter();
                let workload = table.find(|workload| workload.name == name);
                let workload = workload.ok_or_else(|| format!("no workload {name}"))?;
                let prepared = workload.prepare(&context, &keys)?;
                Ok::<_, Failure>(prepared.into_contender())
            };
            self.evp = Some([prepare("aes-256-gcm-seal")?, prepare("sha-256")?]);
        }
        let evp = self.evp.as_mut().ok_or("made above")?;
        Ok(repeat(length, || evp[which](1))?)
    }

    fn find(&self) -> cryptoki::error::Result<()> {
        let session = self.module.open_ro_session(self.slot)?;
        let label = format!("object {}", self.objects / 2);
        let found = session.find_objects(&[Attribute::Label(label.into_bytes())])?;
        assert_eq!(found.len(), 1, "the object is there, once");
        session.close()
    }
}

/// Does something again and again for that long.
fn repeat<E>(
    length: Duration,
    mut once: impl FnMut() -> Result<(), E>,
) -> Result<(u64, Duration), E> {
    let start = Instant::now();
    let mut count = 0;
    loop {
        once()?;
        count += 1;
        let elapsed = start.elapsed();
        if elapsed >= length {
            return Ok((count, elapsed));
        }
    }
}

fn data(label: &str) -> [Attribute; 3] {
    [
        Attribute::Class(ObjectClass::DATA),
        Attribute::Label(label.as_bytes().to_vec()),
        Attribute::Value(vec![0x61; 64]),
    ]
}

impl Kind {
    fn generation(self) -> (Mechanism<'static>, Vec<Attribute>) {
        /// Names of curves in DER (RFC 5480).
        const P256: &[u8] = &[0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
        const P384: &[u8] = &[0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x22];
        let rsa = |bits: u64| {
            let bits = Attribute::ModulusBits(bits.into());
            let exponent = Attribute::PublicExponent(vec![1, 0, 1]);
            (Mechanism::RsaPkcsKeyPairGen, vec![bits, exponent])
        };
        let curve = |name: &[u8]| {
            let name = Attribute::EcParams(name.to_vec());
            (Mechanism::EccKeyPairGen, vec![name])
        };
        let (mechanism, mut public) = match self {
            Self::Rsa2048 => rsa(2048),
            Self::Rsa4096 => rsa(4096),
            Self::P256 => curve(P256),
            Self::P384 => curve(P384),
        };
        public.extend([Attribute::Token(false), Attribute::Verify(true)]);
        (mechanism, public)
    }

    /// The number of its mechanism.
    fn number(self) -> CK_MECHANISM_TYPE {
        match self {
            Self::Rsa2048 | Self::Rsa4096 => CKM_RSA_PKCS,
            Self::P256 | Self::P384 => CKM_ECDSA,
        }
    }

    /// A signature of a digest, as TLS stacks ask for it.
    fn mechanism(self) -> (Mechanism<'static>, &'static [u8]) {
        match self {
            Self::Rsa2048 | Self::Rsa4096 => (Mechanism::RsaPkcs, &[0x30; 51]),
            Self::P256 | Self::P384 => (Mechanism::Ecdsa, &[0x30; 32]),
        }
    }
}

/// How a value is told to the process.
pub(super) fn argument(value: &impl ValueEnum) -> String {
    let value = value.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

/// The process, as seen by who started it.
pub(super) struct ModuleProcess(Process);

impl ModuleProcess {
    /// Starts it; `arguments` say what its key is and how many threads it has.
    pub(super) fn start(module: &Module, arguments: &[String]) -> Result<Self, Failure> {
        let mut command = Command::new(std::env::current_exe()?);
        command
            .arg("token-caller")
            .arg(&module.file)
            .arg(module.token)
            .args(module.pin.map(|pin| format!("--pin={pin}")))
            .args(arguments)
            .envs(module.variables.iter().cloned());
        Process::start(command).map(Self)
    }

    pub(super) fn run(&mut self, task: Task, number: u64) -> Result<Window, Failure> {
        self.0.run(&format!("{} {number}", argument(&task)))
    }
}
