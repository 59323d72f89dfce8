//! The header `csulincl.h`, as the table says.

use std::fmt::Write as _;

use outboard_cca::Description;

use crate::{Kind, VERBS};

const BEGIN: &str = "\
/* The CCA verbs of libcsulcca.so, Outboard's library. For development, tests and migration: the coprocessor behind it is
 * software, not tamper-proof, and not certified.
 *
 * Each parameter is a pointer. A number is a long. crates/csulcca/src/header.rs writes this file. */
#ifndef OUTBOARD_CSULINCL_H
#define OUTBOARD_CSULINCL_H

#ifdef __cplusplus
extern \"C\" {
#endif

#ifndef SECURITYAPI
#define SECURITYAPI
#endif
";

const END: &str = "
#ifdef __cplusplus
}
#endif

#endif
";

/// The header's text.
pub fn header() -> String {
    let mut text = BEGIN.to_owned();
    for function in VERBS {
        let purpose = Description::of(function.name).map_or("", |verb| verb.purpose.trim());
        let first = [
            "long *return_code",
            "long *reason_code",
            "long *exit_data_length",
            "unsigned char *exit_data",
        ];
        let first = first.map(str::to_owned);
        let parameters = function.parameters.iter().map(|parameter| {
            let is_number = match parameter.kind {
                Kind::Number(_) => true,
                Kind::Unused => {
                    parameter.name.ends_with("_length")
                        || parameter.name.ends_with("_count")
                        || ["reserved_2", "reserved_5"].contains(&parameter.name)
                            && !function.name.starts_with("CSND")
                }
                _ => false,
            };
            let kind = if is_number { "long" } else { "unsigned char" };
            format!("{kind} *{}", parameter.name)
        });
        let parameters: Vec<_> = first.into_iter().chain(parameters).collect();
        // Writing into a string succeeds.
        let _ = write!(
            text,
            "\n/* {purpose} */\nextern void SECURITYAPI {}(\n    {});\n",
            function.name,
            parameters.join(",\n    ")
        );
    }
    text + END
}
