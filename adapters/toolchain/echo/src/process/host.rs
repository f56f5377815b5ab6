// SPDX-License-Identifier: Apache-2.0
//! `Host`: installations and contexts of one process, and the answer to each request.

use super::greeting::Greeting;
use crate::{
    context::{
        Context,
        identity::Identity,
        invoke::Surroundings,
        open::{self, Opening},
        total::StateTotal,
    },
    executable::Executable,
    fault_point::FaultPoints,
    limits,
    refusal::Refusal,
    wal::directory::StateRoot,
    wire::{
        frame::ReplyType,
        reply::Reply,
        request::{Hello, Install, Mode, Open, Request, Storage},
    },
};
use edict_codec::{cbor::Value, digest::TypedDigest};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex, RwLock,
        atomic::{AtomicU64, Ordering},
    },
};

/// Judges a package and its report (section 3).
/// The flag is whether the client asked for the foreign profile.
pub type Admit = fn(&Install, bool) -> Result<Arc<dyn Executable>, Refusal>;

/// A request that got no reply of its success type.
#[derive(Debug)]
pub enum Failure {
    /// It was refused.
    Refused(Refusal),
    /// An internal invariant is broken; the process ends.
    Internal(&'static str),
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// A reply, and the point of failure that stands behind its frame.
#[derive(Debug)]
pub struct Answer {
    /// The reply.
    pub reply: Reply,
    /// Reached after the frame was written.
    pub behind: Option<&'static str>,
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        Self {
            reply,
            behind: None,
        }
    }
}

/// What a process holds between requests.
#[derive(Debug)]
pub struct Host {
    greeting: Greeting,
    state_root: Option<StateRoot>,
    fault_points: FaultPoints,
    admit: Admit,
    max_frame_bytes: AtomicU64,
    total: StateTotal,
    world: RwLock<World>,
}

#[derive(Debug, Default)]
struct World {
    installations: BTreeMap<[u8; 32], Arc<dyn Executable>>,
    installed_bytes: u64,
    contexts: BTreeMap<[u8; 32], Arc<Mutex<Context>>>,
    /// Nonces of all contexts opened in this process life.
    nonces: BTreeSet<[u8; 32]>,
    opened: u64,
}

const POISONED: Failure = Failure::Internal("a lock is poisoned");

impl Host {
    /// A host without installations and contexts.
    pub fn new(
        greeting: Greeting,
        state_root: Option<StateRoot>,
        fault_points: FaultPoints,
        admit: Admit,
    ) -> Self {
        Self {
            greeting,
            state_root,
            fault_points,
            admit,
            max_frame_bytes: AtomicU64::new(limits::MAX_FRAME_BYTES),
            total: StateTotal::default(),
            world: RwLock::default(),
        }
    }

    /// The points of failure of this process.
    pub fn fault_points(&self) -> &FaultPoints {
        &self.fault_points
    }

    /// Answers one request after an accepted `hello`. The caller keeps the order of section 1.5.
    ///
    /// # Errors
    /// The refusal, or a broken invariant.
    pub fn answer(&self, request: &Request) -> Result<Answer, Failure> {
        match request {
            Request::Hello(hello) => Ok(self.hello(hello)?.into()),
            Request::Install(install) => self.install(install),
            Request::Uninstall(installation) => self.uninstall(installation),
            Request::Open(open) => self.open(open),
            Request::Invoke(invoke) => {
                self.fault_points.reach("invoke-read");
                let world = self.world.read().map_err(|_| POISONED)?;
                let context = world.context(&invoke.worldline)?;
                let executable = world
                    .installations
                    .get(invoke.installation.bytes())
                    .cloned();
                drop(world);
                let mut context = context.lock().map_err(|_| POISONED)?;
                let reply = context.invoke(invoke, executable.as_deref(), &self.surroundings())?;
                Ok(Answer {
                    reply,
                    behind: Some("replied"),
                })
            }
            Request::Recall(recall) => {
                let context = self.context(&recall.worldline)?;
                let context = context.lock().map_err(|_| POISONED)?;
                Ok(self.within(context.recall(&recall.invocation)?)?)
            }
            Request::Observe(observe) => {
                let context = self.context(&observe.worldline)?;
                let context = context.lock().map_err(|_| POISONED)?;
                Ok(self.within(context.observe(observe)?)?)
            }
            Request::Close(worldline) => self.close(worldline),
            Request::Shutdown => self.shutdown(),
        }
    }

    /// Closes all contexts; gives their number.
    ///
    /// # Errors
    /// A broken invariant.
    pub fn close_all(&self) -> Result<usize, Failure> {
        let mut world = self.world.write().map_err(|_| POISONED)?;
        Ok(std::mem::take(&mut world.contexts).len())
    }

    fn surroundings(&self) -> Surroundings<'_> {
        Surroundings {
            build: self.greeting.build(),
            max_frame_bytes: self.max_frame_bytes.load(Ordering::SeqCst),
            total: &self.total,
            fault_points: &self.fault_points,
        }
    }

    fn within(&self, reply: Reply) -> Result<Answer, Refusal> {
        let limit = self.max_frame_bytes.load(Ordering::SeqCst);
        reply.within(limit).map(Answer::from)
    }

    fn context(&self, worldline: &TypedDigest) -> Result<Arc<Mutex<Context>>, Failure> {
        let world = self.world.read().map_err(|_| POISONED)?;
        Ok(world.context(worldline)?)
    }

    fn hello(&self, hello: &Hello) -> Result<Reply, Refusal> {
        let reply = self.greeting.answer(hello)?;
        self.max_frame_bytes
            .store(hello.max_frame_bytes, Ordering::SeqCst);
        Ok(reply)
    }

    fn install(&self, install: &Install) -> Result<Answer, Failure> {
        let executable = (self.admit)(install, self.greeting.is_anchored())?;
        let facts = executable.facts();
        let key = *facts.installation.bytes();
        let mut world = self.world.write().map_err(|_| POISONED)?;
        let repeated = world.installations.contains_key(&key);
        let bytes = world.installed_bytes.saturating_add(facts.size);
        let count = u64::try_from(world.installations.len()).unwrap_or(u64::MAX);
        let full = count >= limits::MAX_INSTALLATIONS || bytes > limits::MAX_TOTAL_PACKAGE_BYTES;
        if full && !repeated {
            return Err(Refusal::new(
                "installation-limit",
                format!(
                    "{} installations and {} bytes of them are allowed",
                    limits::MAX_INSTALLATIONS,
                    limits::MAX_TOTAL_PACKAGE_BYTES
                ),
            )
            .into());
        }
        let value = Value::text_map([
            ("installation", facts.installation.to_value()),
            ("operation", Value::text(facts.operation.as_str())),
            ("kind", Value::text(facts.kind.name())),
            ("budget", facts.kind.budget(facts.budget)),
            ("staticBound", facts.kind.consumed(facts.static_bound)),
            ("inputType", Value::text(facts.input_type.as_str())),
            ("outputType", Value::text(facts.output_type.as_str())),
            ("repeated", Value::Bool(repeated)),
        ]);
        let answer = self.within(Reply::new(ReplyType::Install, &value))?;
        if !repeated {
            world.installed_bytes = bytes;
            world.installations.insert(key, executable);
        }
        Ok(answer)
    }

    fn uninstall(&self, installation: &TypedDigest) -> Result<Answer, Failure> {
        let mut world = self.world.write().map_err(|_| POISONED)?;
        let Some(executable) = world.installations.get(installation.bytes()) else {
            return Err(Refusal::at(
                "installation-unknown",
                ".installation",
                "no such installation",
            )
            .into());
        };
        let size = executable.facts().size;
        for context in world.contexts.values() {
            if context.lock().map_err(|_| POISONED)?.grants(installation) {
                return Err(Refusal::at(
                    "installation-in-use",
                    ".installation",
                    "it is granted to an open context",
                )
                .into());
            }
        }
        world.installed_bytes = world.installed_bytes.saturating_sub(size);
        world.installations.remove(installation.bytes());
        Ok(Reply::new(ReplyType::Uninstall, &Value::Map(Vec::new())).into())
    }

    fn open(&self, request: &Open) -> Result<Answer, Failure> {
        let mut world = self.world.write().map_err(|_| POISONED)?;
        self.judge_open(request, &world)?;
        let identity = Identity::new(
            request.nonce,
            request.subject.clone(),
            request.storage.kind(),
        );
        let key = *identity.worldline.bytes();
        let open = u64::try_from(world.contexts.len()).unwrap_or(u64::MAX);
        let opening = Opening {
            root: self.state_root.as_ref(),
            build: self.greeting.build(),
            fault_points: &self.fault_points,
            is_open: world.contexts.contains_key(&key),
            has_room: open < limits::MAX_CONTEXTS
                && world.opened < limits::MAX_CONTEXTS_PER_PROCESS,
        };
        let (context, tail) = open::open(request, identity, &opening, &self.total)?;
        let reply = context.opening_reply(tail);
        world.nonces.insert(request.nonce);
        world.opened = world.opened.saturating_add(1);
        world.contexts.insert(key, Arc::new(Mutex::new(context)));
        Ok(Answer {
            // Always below the least `maxFrameBytes`: its members are digests and integers.
            reply,
            behind: (request.mode == Mode::Create).then_some("create-replied"),
        })
    }

    /// The refusals of section 2.3 before anything of the storage is looked at.
    fn judge_open(&self, request: &Open, world: &World) -> Result<(), Refusal> {
        if request.mode == Mode::Create && world.nonces.contains(&request.nonce) {
            return Err(Refusal::at(
                "nonce-reused",
                ".nonce",
                "a context of this nonce was open in this process",
            ));
        }
        let is_volatile = request.storage == Storage::Volatile;
        if !is_volatile && self.state_root.is_none() {
            return Err(open::root_absent());
        }
        let granted = |grant: &TypedDigest| world.installations.get(grant.bytes());
        for (index, grant) in request.grants.iter().enumerate() {
            if is_volatile && granted(grant).is_some_and(|it| it.facts().kind.has_effects()) {
                return Err(Refusal::at(
                    "storage-required",
                    format!(".grants[{index}]"),
                    "an effectful installation needs a durable context",
                ));
            }
        }
        match request
            .grants
            .iter()
            .position(|grant| granted(grant).is_none())
        {
            None => Ok(()),
            Some(index) => Err(Refusal::at(
                "installation-unknown",
                format!(".grants[{index}]"),
                "no such installation",
            )),
        }
    }

    fn close(&self, worldline: &TypedDigest) -> Result<Answer, Failure> {
        let mut world = self.world.write().map_err(|_| POISONED)?;
        let context = world.context(worldline)?;
        self.fault_points.reach("close-begun");
        let context = context.lock().map_err(|_| POISONED)?;
        self.total.replace(context.value_bytes(), 0);
        let reply = context.closing_reply();
        world.contexts.remove(worldline.bytes());
        Ok(reply.into())
    }

    fn shutdown(&self) -> Result<Answer, Failure> {
        self.fault_points.reach("shutdown-begun");
        let contexts = u64::try_from(self.close_all()?).unwrap_or(u64::MAX);
        let value = Value::text_map([("contexts", Value::unsigned(contexts))]);
        Ok(Reply::new(ReplyType::Bye, &value).into())
    }
}

impl World {
    fn context(&self, worldline: &TypedDigest) -> Result<Arc<Mutex<Context>>, Refusal> {
        self.contexts
            .get(worldline.bytes())
            .cloned()
            .ok_or_else(|| Refusal::at("context-unknown", ".worldline", "no such context is open"))
    }
}
