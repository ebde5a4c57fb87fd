//! What can go wrong between OpenDP and us. What happens while data are being read keeps only the *kind* of OpenDP's
//! error, because its text may hold data; construction sees no data, so its text is kept.

use opendp::error::Error as OpendpError;
use queryable::AskError;
use thiserror::Error;

/// Why an OpenDP object could not be brought over.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
#[non_exhaustive]
pub enum BridgeError {
    /// The constructor failed.
    #[error("OpenDP could not construct it: {kind}{}", with_text(.text))]
    Construction {
        /// OpenDP's name for what went wrong.
        kind: String,
        /// What OpenDP says about it.
        text: Option<String>,
    },
    /// The constructor panicked.
    #[error("the constructor panicked")]
    ConstructorPanicked,
    /// OpenDP's code panicked after it was built.
    #[error("OpenDP's code panicked")]
    Panicked,
    /// The constructor built something else than the first time.
    #[error(
        "the constructor built something else than before: first {first}, now {now}; it must build the same every time"
    )]
    Unstable {
        /// What was built first.
        first: String,
        /// What was built now.
        now: String,
    },
    /// The OpenDP measure does not allow this composition.
    #[error("OpenDP's measure {measure} does not allow it: {reason}")]
    Composability {
        /// The measure.
        measure: String,
        /// Why not.
        reason: String,
    },
}

fn with_text(text: &Option<String>) -> String {
    text.as_ref()
        .map_or_else(String::new, |text| format!(": {text}"))
}

impl From<OpendpError> for BridgeError {
    fn from(error: OpendpError) -> Self {
        Self::Construction {
            kind: error.variant.to_string(),
            text: error.message,
        }
    }
}

impl From<BridgeError> for AskError {
    /// Construction sees no data, so its text may be shown.
    fn from(error: BridgeError) -> Self {
        match error {
            BridgeError::Panicked => AskError::Panicked,
            error => AskError::failed(error.to_string()),
        }
    }
}

/// What an analyst learns of an error at release: its kind.
pub(crate) fn at_release(error: &OpendpError) -> AskError {
    AskError::failed(format!("OpenDP: {}", error.variant))
}

/// What the author of a privacy map or a stability map may know: these see no data.
pub(crate) fn in_full(error: &OpendpError) -> String {
    format!(
        "OpenDP: {}{}",
        error.variant,
        with_text(&error.message.clone())
    )
}
