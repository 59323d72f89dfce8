//! Keys: the engine's form of one, and stock's.
//!
//! ```text
//! Empty ──import, generate──▶ Plain   the engine's form tells all; stock's is made of it when it is first wanted
//!                         └─▶ Stock   stock's form tells all; the engine's is read from it when it is first wanted
//! Decoded ─────────────────▶ Service  the card service has the private half; stock's form tells of the public one
//! ```
//!
//! Whatever is asked of a key, stock's form answers, unless the key is plain and the answer is beyond doubt: an ephemeral
//! key of a handshake is made, sent and used without stock ever seeing it.

mod ec;
mod octets;
mod rsa;
mod service;

pub(crate) use ec::{Ec, Native as EcNative};
pub(crate) use octets::{Ed25519, LENGTH, X25519};
pub(crate) use rsa::{RSA, RSA_PSS, Rsa, operation};
pub(crate) use service::{Public, Service};

use std::ffi::{CStr, c_int};
use std::sync::Arc;

use once_cell::race::OnceBox;
use outboard_provider_abi::keymgmt::List;
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::{
    Change, Error, KeyManagement, ParamList, Params, ParamsMut, Reason, Receiver, Result, Selection,
};

use outboard_wire::Reference;

use crate::outboard::{Outboard, Shared};
use crate::stock;

/// What differs between key types. What a type does not say is left to stock.
pub(crate) trait KeyType: Send + Sync + 'static {
    /// The engine's form of a key.
    type Native: Send + Sync;
    /// What a key generation was asked for.
    type Wish: Default + Send;
    /// The name of each variant of the type.
    const NAMES: &'static [&'static CStr];

    /// The engine's form of the key that the parameters describe; none where it has none, or nothing to do with it.
    fn read(shared: &Shared, selection: Selection, params: Params<'_>) -> Option<Self::Native>;

    /// Whether the engine's form tells all that the parameters do, and stock is sure to take them: the key is plain.
    fn is_plain(_: Selection, _: Params<'_>) -> bool {
        false
    }

    /// What stock's form of a plain key is made of; a selection of nothing for one with nothing in it.
    fn params(_: &Self::Native) -> Result<(Selection, ParamList)> {
        Err(Reason::Internal.into()) // no key of this type is plain
    }

    /// Whether a plain key has all those parts.
    fn has(_: &Self::Native, _: Selection) -> bool {
        false
    }

    /// Whether those parts of a plain key are beyond doubt valid.
    fn is_valid(_: &Self::Native, _: Selection) -> bool {
        false
    }

    /// Those parts of a plain key; none leaves it to stock.
    fn part(_: &Self::Native, _: Selection) -> Option<Self::Native> {
        None
    }

    /// Answers parameters of a plain key; false leaves them all to stock.
    fn answer(_: &Shared, _: &Self::Native, _: &mut ParamsMut<'_>) -> Result<bool> {
        Ok(false)
    }

    /// A plain key with those parameters set; none leaves it to stock.
    fn with(_: &Self::Native, _: Params<'_>) -> Option<Self::Native> {
        None
    }

    /// Notes what a key generation is asked for; false where the engine does not know it.
    fn wish(_: &mut Self::Wish, _: Selection, _: Params<'_>) -> bool {
        false
    }

    /// Notes the key whose domain parameters it shall have; false where the engine does not know them.
    fn template(_: &mut Self::Wish, _: &Self::Native) -> bool {
        false
    }

    /// Makes a plain key; none leaves it to stock.
    fn generate(_: &Shared, _: &Self::Wish) -> Option<Result<Self::Native>> {
        None
    }
}

/// A key.
pub(crate) struct Key<T: KeyType> {
    shared: Arc<Shared>,
    variant: u8,
    content: Content<T>,
    stock: OnceBox<Arc<stock::Key>>,
}

enum Content<T: KeyType> {
    Empty,
    /// The engine's form tells all.
    Plain(T::Native),
    /// Stock's form is there and tells all; this is the engine's, once it was looked for.
    Stock(OnceBox<Option<T::Native>>),
    /// Stock's form is there and tells all of the public half. The private one is the card service's.
    Service(Box<Service>),
}

impl<T: KeyType> Key<T> {
    fn new(shared: Arc<Shared>, variant: u8, content: Content<T>) -> Self {
        Self {
            shared,
            variant,
            content,
            stock: OnceBox::new(),
        }
    }

    fn plain(&self, native: T::Native) -> Self {
        Self::new(
            Arc::clone(&self.shared),
            self.variant,
            Content::Plain(native),
        )
    }

    /// A key that stock knows all of.
    fn of_stock(
        shared: &Arc<Shared>,
        variant: u8,
        stock: Arc<stock::Key>,
        native: Option<T::Native>,
    ) -> Self {
        let native = native.map_or_else(OnceBox::new, |native| {
            OnceBox::with_value(Box::new(Some(native)))
        });
        Self {
            shared: Arc::clone(shared),
            variant,
            content: Content::Stock(native),
            stock: OnceBox::with_value(Box::new(stock)),
        }
    }

    /// A key whose private half is the card service's.
    pub(crate) fn of_service(
        shared: &Arc<Shared>,
        reference: Reference,
        public: &Public,
    ) -> Result<Self> {
        let bits = public.bits();
        let service = Service::new(reference, bits);
        let stock = stock::Key::empty(shared, public.name())?;
        let (selection, params) = public.params();
        // SAFETY: the list's own array, whole for the call.
        let import = |params| stock.import(selection, unsafe { Params::new(params) });
        if params.with_array(import) != 1 {
            return Err(service.error(Reason::InvalidKey, "its public half is damaged"));
        }
        Ok(Self::with_service(shared, 0, Arc::new(stock), service))
    }

    fn with_service(
        shared: &Arc<Shared>,
        variant: u8,
        stock: Arc<stock::Key>,
        service: Service,
    ) -> Self {
        Self {
            shared: Arc::clone(shared),
            variant,
            content: Content::Service(Box::new(service)),
            stock: OnceBox::with_value(Box::new(stock)),
        }
    }

    /// What is known of it, where the card service has its private half.
    pub(crate) fn service(&self) -> Option<&Service> {
        match &self.content {
            Content::Service(service) => Some(service),
            _ => None,
        }
    }

    /// What the keys of a library context share.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Which variant of the type it is.
    pub(crate) fn variant(&self) -> u8 {
        self.variant
    }

    /// The engine's form of it, where there is one.
    pub(crate) fn native(&self) -> Option<&T::Native> {
        match &self.content {
            Content::Empty | Content::Service(_) => None,
            Content::Plain(native) => Some(native),
            Content::Stock(native) => native.get_or_init(|| Box::new(self.look())).as_ref(),
        }
    }

    /// Stock's form of it.
    pub(crate) fn stock(&self) -> Result<&Arc<stock::Key>> {
        if let Some(key) = self.stock.get() {
            return Ok(key);
        }
        let key = stock::Key::empty(&self.shared, self.name())?;
        if let Content::Plain(native) = &self.content {
            let (selection, params) = T::params(native)?;
            let taken = params.with_array(|params| {
                // SAFETY: the list's own array, whole for the call.
                selection.0 == 0 || key.import(selection, unsafe { Params::new(params) }) == 1
            });
            if !taken {
                return Err(Error::silent());
            }
        }
        Ok(self.stock.get_or_init(|| Box::new(Arc::new(key))))
    }

    /// The engine's form of stock's.
    fn look(&self) -> Option<T::Native> {
        let stock = self.stock().ok()?;
        let mut native = None;
        let mut read = |params: *const Param| {
            // SAFETY: stock's array, whole for the call.
            native = T::read(&self.shared, Selection::ALL, unsafe { Params::new(params) });
            true
        };
        // A key that has no private half is exported without.
        let has_private = stock.has(Selection::PRIVATE) == 1;
        let parts = match has_private {
            true => Selection::ALL,
            false => Selection(Selection::ALL.0 & !Selection::PRIVATE.0),
        };
        Receiver::with(&mut read, |receiver| stock.export(parts, receiver));
        native
    }

    /// Those parts without the one that the card service has.
    fn here(&self, selection: Selection) -> Selection {
        match self.service() {
            Some(_) => Selection(selection.0 & !Selection::PRIVATE.0),
            None => selection,
        }
    }

    fn name(&self) -> &'static CStr {
        T::NAMES[usize::from(self.variant)]
    }

    fn is_empty(&self) -> bool {
        matches!(self.content, Content::Empty)
    }

    fn as_plain(&self) -> Option<&T::Native> {
        match &self.content {
            Content::Plain(native) => Some(native),
            _ => None,
        }
    }
}

impl<T: KeyType> KeyManagement for Key<T> {
    type Provider = Outboard;
    type Generator = Generator<T>;

    fn empty(provider: &Outboard, variant: u8) -> Result<Self> {
        Ok(Self::new(provider.shared(), variant, Content::Empty))
    }

    fn import(&self, selection: Selection, params: Params<'_>) -> Result<Change<Self>> {
        if self.service().is_some() {
            return Err(Error::silent());
        }
        let native = match self.is_empty() {
            true => T::read(&self.shared, selection, params),
            false => None,
        };
        match native {
            Some(native) if T::is_plain(selection, params) => Ok(Change {
                answer: 1,
                key: Some(self.plain(native)),
            }),
            native => {
                let stock = Arc::clone(self.stock()?);
                let answer = stock.import(selection, params);
                let native = native.filter(|_| answer == 1);
                let key = Self::of_stock(&self.shared, self.variant, stock, native);
                Ok(Change {
                    answer,
                    key: Some(key),
                })
            }
        }
    }

    /// What is to be exported with a private half that is not here is not exported: libcrypto then uses the key here. It
    /// tries so for each operation, and no error stays from that.
    fn export(&self, selection: Selection, receiver: Receiver) -> Result<c_int> {
        if self.service().is_some() && selection.touches(Selection::PRIVATE) {
            return Err(Error::silent());
        }
        Ok(self.stock()?.export(selection, receiver))
    }

    fn has(&self, selection: Selection) -> Result<c_int> {
        let selection = self.here(selection);
        match self.as_plain() {
            Some(native) => Ok(T::has(native, selection).into()),
            None => Ok(self.stock()?.has(selection)),
        }
    }

    fn matches(&self, other: Option<&Self>, selection: Selection) -> Result<c_int> {
        let services = (self.service(), other.and_then(Self::service));
        if let (Some(one), Some(other)) = services
            && !one.is(other)
            && selection.touches(Selection::PRIVATE)
        {
            return Ok(0);
        }
        // Keys with one public half have one private half.
        let selection = match services {
            (None, None) => selection,
            _ if !selection.touches(Selection::PRIVATE) => selection,
            _ => Selection(selection.0 & !Selection::PRIVATE.0 | Selection::PUBLIC.0),
        };
        let other = other.map(Self::stock).transpose()?;
        Ok(self.stock()?.matches(other.map(Arc::as_ref), selection))
    }

    fn validate(&self, selection: Selection, check: c_int) -> Result<c_int> {
        let selection = self.here(selection);
        match self.as_plain() {
            Some(native) if T::is_valid(native, selection) => Ok(1),
            _ => Ok(self.stock()?.validate(selection, check)),
        }
    }

    fn duplicate(&self, selection: Selection) -> Result<Option<Self>> {
        if let Some(part) = self
            .as_plain()
            .and_then(|native| T::part(native, selection))
        {
            return Ok(Some(self.plain(part)));
        }
        let copy = self.stock()?.duplicate(self.here(selection));
        if let Some(service) = self
            .service()
            .filter(|_| selection.touches(Selection::PRIVATE))
        {
            let (shared, variant) = (&self.shared, self.variant);
            return Ok(copy
                .map(|copy| Self::with_service(shared, variant, Arc::new(copy), service.clone())));
        }
        Ok(copy.map(|copy| Self::of_stock(&self.shared, self.variant, Arc::new(copy), None)))
    }

    fn get(&self, mut params: ParamsMut<'_>) -> Result<c_int> {
        if let Some(native) = self.as_plain()
            // What cannot be answered as it was asked, stock refuses in its own words.
            && T::answer(&self.shared, native, &mut params).unwrap_or(false)
        {
            return Ok(1);
        }
        Ok(self.stock()?.get(params))
    }

    fn set(&self, params: Params<'_>) -> Result<Change<Self>> {
        if let Some(native) = self.as_plain().and_then(|native| T::with(native, params)) {
            return Ok(Change {
                answer: 1,
                key: Some(self.plain(native)),
            });
        }
        let stock = Arc::clone(self.stock()?);
        if self.service().is_some() {
            // Its halves belong together.
            let (mut changes, halves) = (params, [&b"encoded-pub-key"[..], b"pub", b"priv"]);
            let answer = match changes.any(|param| halves.contains(&param.key())) {
                true => 0,
                false => stock.set(params),
            };
            return Ok(Change { answer, key: None });
        }
        let answer = stock.set(params);
        // Even what was refused may have changed it.
        Ok(Change {
            answer,
            key: Some(Self::of_stock(&self.shared, self.variant, stock, None)),
        })
    }

    fn generator(
        provider: &Outboard,
        variant: u8,
        selection: Selection,
        params: Params<'_>,
    ) -> Result<Option<Generator<T>>> {
        let shared = provider.shared();
        let name = T::NAMES[usize::from(variant)];
        let Some(stock) = stock::Generation::begin(&shared, name, selection, params)? else {
            return Ok(None);
        };
        let mut wish = T::Wish::default();
        let plain = selection.touches(Selection::PAIR) && T::wish(&mut wish, selection, params);
        Ok(Some(Generator {
            shared,
            variant,
            selection,
            stock,
            wish: plain.then_some(wish),
            template: None,
        }))
    }

    fn generator_template(
        generator: &mut Generator<T>,
        template: Option<Arc<Self>>,
    ) -> Result<c_int> {
        let known = template.as_ref().and_then(|template| template.as_plain());
        if let (Some(native), Some(wish), None) = (known, &mut generator.wish, &generator.template)
            && T::template(wish, native)
        {
            generator.template = template;
            return Ok(1);
        }
        generator.wish = None;
        let template = template
            .as_ref()
            .map(|template| template.stock())
            .transpose()?;
        let template = template.map(Arc::as_ref);
        Ok(generator.stock()?.set_template(template))
    }

    fn generator_set(generator: &mut Generator<T>, params: Params<'_>) -> Result<c_int> {
        let answer = generator.stock()?.set(params);
        let selection = generator.selection;
        generator.wish = generator
            .wish
            .take()
            .filter(|_| answer == 1)
            .and_then(|mut wish| T::wish(&mut wish, selection, params).then_some(wish));
        Ok(answer)
    }

    fn generator_get(generator: &mut Generator<T>, params: ParamsMut<'_>) -> Result<c_int> {
        Ok(generator.stock()?.get(params))
    }

    fn generate(generator: &mut Generator<T>, progress: Receiver) -> Result<Option<Self>> {
        let (shared, variant) = (&generator.shared, generator.variant);
        let made = generator
            .wish
            .as_ref()
            .and_then(|wish| T::generate(shared, wish));
        match made {
            Some(Ok(native)) => {
                let shared = Arc::clone(shared);
                return Ok(Some(Self::new(shared, variant, Content::Plain(native))));
            }
            // A sandbox that refuses randomness to the engine: the program's own may go on.
            Some(Err(error)) if error.reason() != Reason::Randomness => return Err(error),
            _ => {}
        }
        let key = generator.stock()?.run(progress);
        Ok(key.map(|key| Self::of_stock(&generator.shared, variant, Arc::new(key), None)))
    }

    fn describe(
        provider: &Outboard,
        variant: u8,
        list: List,
        generator: Option<&mut Generator<T>>,
    ) -> *const Param {
        let name = T::NAMES[usize::from(variant)];
        let generation = generator.map(|generator| &generator.stock);
        provider.stock().map_or(std::ptr::null(), |stock| {
            stock.describe_key(name, list, generation)
        })
    }
}

/// A key generation under way.
pub(crate) struct Generator<T: KeyType> {
    shared: Arc<Shared>,
    variant: u8,
    selection: Selection,
    /// Stock's, which takes all that is set.
    stock: stock::Generation,
    /// What is wanted, while the engine knows all of it.
    wish: Option<T::Wish>,
    /// A template that stock was not yet told of.
    template: Option<Arc<Key<T>>>,
}

impl<T: KeyType> Generator<T> {
    /// Stock's, told of all.
    fn stock(&mut self) -> Result<&mut stock::Generation> {
        if let Some(template) = self.template.take() {
            let answer = self.stock.set_template(Some(template.stock()?));
            if answer != 1 {
                return Err(Error::silent());
            }
        }
        Ok(&mut self.stock)
    }
}
