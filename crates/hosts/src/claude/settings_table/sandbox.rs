//! The settings of the sandbox, which belong to the same table.

use super::super::settings_shape::ValueShape::{Flag, List, Object, Record, Text, Word};
use super::super::settings_shape::{Members, ValueShape, may_have, must_have};
use super::{ANY_NUMBER, FILLED, TEXTS, VARIABLE};

pub(super) const SANDBOX: ValueShape = Object(&[
    may_have(
        &Flag,
        &[
            "allowAppleEvents",
            "allowNestedUserNamespaces",
            "allowUnsandboxedCommands",
            "autoAllowBashIfSandboxed",
            "enableWeakerNestedSandbox",
            "enableWeakerNetworkIsolation",
            "enabled",
            "failIfUnavailable",
        ],
    ),
    may_have(&TEXTS, &["excludedCommands"]),
    may_have(&Record(&TEXTS), &["ignoreViolations"]),
    may_have(&SANDBOX_FILES, &["filesystem"]),
    may_have(&SANDBOX_NETWORK, &["network"]),
    may_have(&SANDBOX_CREDENTIALS, &["credentials"]),
    may_have(
        &Object(&[must_have(&Text, &["command"]), may_have(&TEXTS, &["args"])]),
        &["ripgrep"],
    ),
]);

const SANDBOX_FILES: ValueShape = Object(&[
    may_have(
        &TEXTS,
        &["allowRead", "allowWrite", "denyRead", "denyWrite"],
    ),
    may_have(&Flag, &["allowManagedReadPathsOnly", "disabled"]),
]);

const SANDBOX_NETWORK: ValueShape = Object(&[
    may_have(
        &TEXTS,
        &[
            "allowMachLookup",
            "allowUnixSockets",
            "allowedDomains",
            "deniedDomains",
        ],
    ),
    may_have(
        &Flag,
        &[
            "allowAllUnixSockets",
            "allowLocalBinding",
            "allowManagedDomainsOnly",
            "strictAllowlist",
        ],
    ),
    may_have(&ANY_NUMBER, &["httpProxyPort", "socksProxyPort"]),
    may_have(
        &Object(&[may_have(&FILLED, &["caCertPath", "caKeyPath"])]),
        &["tlsTerminate"],
    ),
]);

const DENY_OR_PASS: ValueShape = Word(&["deny", "passthrough"]);
const SANDBOX_CREDENTIALS: ValueShape = Object(&[
    may_have(&Flag, &["allowPlaintextInject"]),
    may_have(&List(&SECRET_FILE), &["files"]),
    may_have(&List(&SECRET_VARIABLE), &["envVars"]),
    may_have(
        &List(&Object(&[
            must_have(&VARIABLE, &["accessKeyIdVar", "secretAccessKeyVar"]),
            may_have(&VARIABLE, &["sessionTokenVar"]),
        ])),
        &["awsPairs"],
    ),
    may_have(
        &Object(&[may_have(
            &DENY_OR_PASS,
            &["presigned", "sigv4a", "streaming"],
        )]),
        &["sigv4"],
    ),
]);

const MODE_OF_SECRET: Members = must_have(&Word(&["deny", "mask"]), &["mode"]);
const TEXTS_OF_SECRET: Members = may_have(&TEXTS, &["injectHosts", "maskClaims"]);
const EXTRACT: Members = may_have(&Text, &["extract"]);
const DECODE: Members = may_have(&Word(&["jwt"]), &["decode"]);
const NO_MATCH: Members = may_have(&Word(&["warn", "deny", "error"]), &["onExtractNoMatch"]);
const SECRET_FILE: ValueShape = Object(&[
    must_have(&FILLED, &["path"]),
    may_have(&Flag, &["maskDuplicates"]),
    MODE_OF_SECRET,
    TEXTS_OF_SECRET,
    EXTRACT,
    DECODE,
    NO_MATCH,
]);
const SECRET_VARIABLE: ValueShape = Object(&[
    must_have(&VARIABLE, &["name"]),
    MODE_OF_SECRET,
    TEXTS_OF_SECRET,
    EXTRACT,
    DECODE,
    NO_MATCH,
]);
