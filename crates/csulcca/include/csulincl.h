/* The CCA verbs of libcsulcca.so, Outboard's library. For development, tests and migration: the coprocessor behind it is
 * software, not tamper-proof, and not certified.
 *
 * Each parameter is a pointer. A number is a long. crates/csulcca/src/header.rs writes this file. */
#ifndef OUTBOARD_CSULINCL_H
#define OUTBOARD_CSULINCL_H

#ifdef __cplusplus
extern "C" {
#endif

#ifndef SECURITYAPI
#define SECURITYAPI
#endif

/* Makes a DES key, in one form or two. */
extern void SECURITYAPI CSNBKGN(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    unsigned char *key_form,
    unsigned char *key_length,
    unsigned char *key_type_1,
    unsigned char *key_type_2,
    unsigned char *kek_key_identifier_1,
    unsigned char *kek_key_identifier_2,
    unsigned char *generated_key_identifier_1,
    unsigned char *generated_key_identifier_2);

/* Makes an AES or an HMAC key. */
extern void SECURITYAPI CSNBKGN2(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *clear_key_bit_length,
    unsigned char *key_type_1,
    unsigned char *key_type_2,
    long *key_name_1_length,
    unsigned char *key_name_1,
    long *key_name_2_length,
    unsigned char *key_name_2,
    long *user_associated_data_1_length,
    unsigned char *user_associated_data_1,
    long *user_associated_data_2_length,
    unsigned char *user_associated_data_2,
    long *key_encrypting_key_identifier_1_length,
    unsigned char *key_encrypting_key_identifier_1,
    long *key_encrypting_key_identifier_2_length,
    unsigned char *key_encrypting_key_identifier_2,
    long *generated_key_identifier_1_length,
    unsigned char *generated_key_identifier_1,
    long *generated_key_identifier_2_length,
    unsigned char *generated_key_identifier_2);

/* Takes a DES key from under an importer key to under the master key. */
extern void SECURITYAPI CSNBKIM(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    unsigned char *key_type,
    unsigned char *source_key_token,
    unsigned char *importer_key_identifier,
    unsigned char *target_key_identifier);

/* Takes a DES key from under the master key to under an exporter key. */
extern void SECURITYAPI CSNBKEX(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    unsigned char *key_type,
    unsigned char *source_key_identifier,
    unsigned char *exporter_key_identifier,
    unsigned char *target_key_token);

/* Takes a DES key from under one key-encrypting key to under another. */
extern void SECURITYAPI CSNBKTR(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    unsigned char *input_key_token,
    unsigned char *input_kek_key_identifier,
    unsigned char *output_kek_key_identifier,
    unsigned char *output_key_token);

/* Combines clear parts of a DES key. */
extern void SECURITYAPI CSNBKPI(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *key_part,
    unsigned char *key_identifier);

/* Combines clear parts of an AES or HMAC key. */
extern void SECURITYAPI CSNBKPI2(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *clear_key_part_bit_length,
    unsigned char *clear_key_part,
    long *key_identifier_length,
    unsigned char *key_identifier);

/* Wraps a clear DATA key under the master key. */
extern void SECURITYAPI CSNBCKI(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    unsigned char *clear_key,
    unsigned char *target_key_identifier);

/* Wraps a clear DATA key, DES or AES, under the master key. */
extern void SECURITYAPI CSNBCKM(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *clear_key_length,
    unsigned char *clear_key,
    unsigned char *target_key_identifier);

/* Assembles a DES or AES key token of 64 bytes. */
extern void SECURITYAPI CSNBKTB(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    unsigned char *key_token,
    unsigned char *key_type,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *key_value,
    unsigned char *reserved_1,
    long *reserved_2,
    unsigned char *reserved_3,
    unsigned char *control_vector,
    unsigned char *reserved_4,
    long *reserved_5,
    unsigned char *reserved_6,
    unsigned char *master_key_verification_pattern);

/* Assembles a key token of variable length: AES and HMAC. */
extern void SECURITYAPI CSNBKTB2(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *clear_key_bit_length,
    unsigned char *clear_key_value,
    long *key_name_length,
    unsigned char *key_name,
    long *user_associated_data_length,
    unsigned char *user_associated_data,
    long *token_data_length,
    unsigned char *token_data,
    long *reserved_length,
    unsigned char *reserved,
    long *target_key_token_length,
    unsigned char *target_key_token);

/* Reads what a DES key token says of its key. */
extern void SECURITYAPI CSNBKTP(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    unsigned char *key_token,
    unsigned char *key_type,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *key_value,
    unsigned char *master_key_verification_pattern_v03,
    long *reserved_2,
    unsigned char *reserved_3,
    unsigned char *control_vector,
    unsigned char *reserved_4,
    long *reserved_5,
    unsigned char *reserved_6,
    unsigned char *master_key_verification_pattern);

/* Makes a control vector of a key type and keywords. */
extern void SECURITYAPI CSNBCVG(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    unsigned char *key_type,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *reserved,
    unsigned char *control_vector);

/* Re-enciphers an internal DES or AES token of 64 bytes to another master key. */
extern void SECURITYAPI CSNBKTC(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *key_identifier);

/* Re-enciphers an internal token of variable length to another master key. */
extern void SECURITYAPI CSNBKTC2(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *key_identifier_length,
    unsigned char *key_identifier);

/* Makes or verifies a pattern that tells which key a token has. */
extern void SECURITYAPI CSNBKYT(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *key_identifier,
    unsigned char *random_number,
    unsigned char *verification_pattern);

/* The same for tokens of every kind. */
extern void SECURITYAPI CSNBKYT2(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *key_identifier_length,
    unsigned char *key_identifier,
    long *key_encrypting_key_identifier_length,
    unsigned char *key_encrypting_key_identifier,
    long *reserved_length,
    unsigned char *reserved,
    long *verification_pattern_length,
    unsigned char *verification_pattern);

/* Marks an internal DES token so that its key is never exported. */
extern void SECURITYAPI CSNBPEX(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    unsigned char *key_identifier);

/* Makes an empty record in DES key storage. */
extern void SECURITYAPI CSNBKRC(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    unsigned char *key_label);

/* Reads a record of DES key storage. */
extern void SECURITYAPI CSNBKRR(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    unsigned char *key_label,
    unsigned char *key_token);

/* Writes a token into a record of DES key storage. */
extern void SECURITYAPI CSNBKRW(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    unsigned char *key_token,
    unsigned char *key_label);

/* Deletes a record of DES key storage, or the token in it. */
extern void SECURITYAPI CSNBKRD(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *key_identifier);

/* Lists the labels of DES key storage that a mask fits, in which `*` stands for any characters. */
extern void SECURITYAPI CSNBKRL(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    unsigned char *key_label,
    long *data_set_name_length,
    unsigned char *data_set_name,
    unsigned char *security_server_name);

/* Makes a record in AES key storage. */
extern void SECURITYAPI CSNBAKRC(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *key_label,
    long *key_token_length,
    unsigned char *key_token);

/* Reads a record of AES key storage. */
extern void SECURITYAPI CSNBAKRR(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *key_label,
    long *key_token_length,
    unsigned char *key_token);

/* Writes a token into a record of AES key storage. */
extern void SECURITYAPI CSNBAKRW(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *key_label,
    long *key_token_length,
    unsigned char *key_token);

/* Deletes a record of AES key storage, or the token in it. */
extern void SECURITYAPI CSNBAKRD(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *key_label);

/* Lists labels of AES key storage. */
extern void SECURITYAPI CSNBAKRL(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *key_label,
    long *data_set_name_length,
    unsigned char *data_set_name,
    unsigned char *security_server_name);

/* Makes a record in PKA key storage. */
extern void SECURITYAPI CSNDKRC(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *key_label,
    long *key_token_length,
    unsigned char *key_token);

/* Reads a record of PKA key storage. */
extern void SECURITYAPI CSNDKRR(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *key_label,
    long *key_token_length,
    unsigned char *key_token);

/* Writes a token into a record of PKA key storage. */
extern void SECURITYAPI CSNDKRW(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *key_label,
    long *key_token_length,
    unsigned char *key_token);

/* Deletes a record of PKA key storage, or the token in it. */
extern void SECURITYAPI CSNDKRD(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *key_identifier);

/* Lists labels of PKA key storage. */
extern void SECURITYAPI CSNDKRL(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *key_label,
    long *data_set_name_length,
    unsigned char *data_set_name,
    unsigned char *security_server_name);

/* Writes a key into a TR-31 key block. */
extern void SECURITYAPI CSNBT31X(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *key_version_number,
    long *key_field_length,
    long *source_key_identifier_length,
    unsigned char *source_key_identifier,
    long *unwrap_kek_identifier_length,
    unsigned char *unwrap_kek_identifier,
    long *wrap_kek_identifier_length,
    unsigned char *wrap_kek_identifier,
    long *opt_blks_length,
    unsigned char *opt_blks,
    long *tr31_key_block_length,
    unsigned char *tr31_key_block);

/* Takes a key out of a TR-31 key block. */
extern void SECURITYAPI CSNBT31I(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *tr31_key_block_length,
    unsigned char *tr31_key_block,
    long *unwrap_kek_identifier_length,
    unsigned char *unwrap_kek_identifier,
    long *wrap_kek_identifier_length,
    unsigned char *wrap_kek_identifier,
    long *output_key_identifier_length,
    unsigned char *output_key_identifier,
    long *num_opt_blks,
    long *cv_source,
    long *protection_method);

/* Reads the header of a TR-31 key block. */
extern void SECURITYAPI CSNBT31P(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *tr31_key_block_length,
    unsigned char *tr31_key_block,
    unsigned char *key_block_version,
    long *key_block_length,
    unsigned char *key_usage,
    unsigned char *algorithm,
    unsigned char *mode,
    unsigned char *key_version_number,
    unsigned char *exportability,
    long *num_opt_blks);

/* Encrypts with DES or Triple DES. */
extern void SECURITYAPI CSNBENC(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    unsigned char *key_identifier,
    long *text_length,
    unsigned char *plaintext,
    unsigned char *initialization_vector,
    long *rule_array_count,
    unsigned char *rule_array,
    long *pad_character,
    unsigned char *chaining_vector,
    unsigned char *ciphertext);

/* Decrypts with DES or Triple DES. */
extern void SECURITYAPI CSNBDEC(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    unsigned char *key_identifier,
    long *text_length,
    unsigned char *ciphertext,
    unsigned char *initialization_vector,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *chaining_vector,
    unsigned char *plaintext);

/* Encrypts with AES. */
extern void SECURITYAPI CSNBSAE(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *key_identifier_length,
    unsigned char *key_identifier,
    long *key_parms_length,
    unsigned char *key_parms,
    long *block_size,
    long *initialization_vector_length,
    unsigned char *initialization_vector,
    long *chaining_vector_length,
    unsigned char *chaining_vector,
    long *cleartext_length,
    unsigned char *cleartext,
    long *ciphertext_length,
    unsigned char *ciphertext,
    long *optional_data_length,
    unsigned char *optional_data);

/* Decrypts with AES. */
extern void SECURITYAPI CSNBSAD(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *key_identifier_length,
    unsigned char *key_identifier,
    long *key_parms_length,
    unsigned char *key_parms,
    long *block_size,
    long *initialization_vector_length,
    unsigned char *initialization_vector,
    long *chaining_vector_length,
    unsigned char *chaining_vector,
    long *ciphertext_length,
    unsigned char *ciphertext,
    long *cleartext_length,
    unsigned char *cleartext,
    long *optional_data_length,
    unsigned char *optional_data);

/* Makes a MAC with a DES key. */
extern void SECURITYAPI CSNBMGN(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    unsigned char *key_identifier,
    long *text_length,
    unsigned char *text,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *chaining_vector,
    unsigned char *mac);

/* Verifies a MAC with a DES key. */
extern void SECURITYAPI CSNBMVR(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    unsigned char *key_identifier,
    long *text_length,
    unsigned char *text,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *chaining_vector,
    unsigned char *mac);

/* Makes a CMAC with a DES or an AES key. */
extern void SECURITYAPI CSNBMGN2(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *key_identifier_length,
    unsigned char *key_identifier,
    long *message_text_length,
    unsigned char *message_text,
    long *chaining_vector_length,
    unsigned char *chaining_vector,
    long *mac_text_length,
    unsigned char *mac_text);

/* Verifies a CMAC with a DES or an AES key. */
extern void SECURITYAPI CSNBMVR2(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *key_identifier_length,
    unsigned char *key_identifier,
    long *message_text_length,
    unsigned char *message_text,
    long *chaining_vector_length,
    unsigned char *chaining_vector,
    long *mac_text_length,
    unsigned char *mac_text);

/* Makes an HMAC. */
extern void SECURITYAPI CSNBHMG(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *key_identifier_length,
    unsigned char *key_identifier,
    long *message_text_length,
    unsigned char *message_text,
    long *chaining_vector_length,
    unsigned char *chaining_vector,
    long *mac_text_length,
    unsigned char *mac_text);

/* Verifies an HMAC. */
extern void SECURITYAPI CSNBHMV(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *key_identifier_length,
    unsigned char *key_identifier,
    long *message_text_length,
    unsigned char *message_text,
    long *chaining_vector_length,
    unsigned char *chaining_vector,
    long *mac_text_length,
    unsigned char *mac_text);

/* Hashes. */
extern void SECURITYAPI CSNBOWH(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *text_length,
    unsigned char *text,
    long *chaining_vector_length,
    unsigned char *chaining_vector,
    long *hash_length,
    unsigned char *hash);

/* Draws eight random bytes. */
extern void SECURITYAPI CSNBRNG(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    unsigned char *form,
    unsigned char *random_number);

/* Draws up to 8,192 random bytes. */
extern void SECURITYAPI CSNBRNGL(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *reserved_length,
    unsigned char *reserved,
    long *random_number_length,
    unsigned char *random_number);

/* Makes the PIN, the offset or the PIN's verification value of an account, in the clear. Off by default. */
extern void SECURITYAPI CSNBPGN(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    unsigned char *pin_generating_key_identifier,
    long *rule_array_count,
    unsigned char *rule_array,
    long *pin_length,
    long *pin_check_length,
    unsigned char *data_array,
    unsigned char *returned_result);

/* Encrypts a clear PIN. */
extern void SECURITYAPI CSNBCPE(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    unsigned char *pin_encrypting_key_identifier,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *clear_pin,
    unsigned char *pin_profile,
    unsigned char *pan_data,
    long *sequence_number,
    unsigned char *encrypted_pin_block);

/* Makes an offset or a PVV of a PIN that the customer chose. */
extern void SECURITYAPI CSNBCPA(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    unsigned char *pin_encryption_key_identifier,
    unsigned char *pin_generation_key_identifier,
    unsigned char *pin_profile,
    unsigned char *pan_data,
    unsigned char *encrypted_pin_block,
    long *rule_array_count,
    unsigned char *rule_array,
    long *pin_check_length,
    unsigned char *data_array,
    unsigned char *returned_result);

/* Makes the PIN of an account, encrypted. */
extern void SECURITYAPI CSNBEPG(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    unsigned char *pin_generating_key_identifier,
    unsigned char *outbound_pin_encrypting_key_identifier,
    long *rule_array_count,
    unsigned char *rule_array,
    long *pin_length,
    unsigned char *data_array,
    unsigned char *pin_profile,
    unsigned char *pan_data,
    long *sequence_number,
    unsigned char *encrypted_pin_block);

/* Encrypts a PIN anew, under another key or in another format. */
extern void SECURITYAPI CSNBPTR(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    unsigned char *input_pin_encrypting_key_identifier,
    unsigned char *output_pin_encrypting_key_identifier,
    unsigned char *input_pin_profile,
    unsigned char *pan_data_in,
    unsigned char *pin_block_in,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *output_pin_profile,
    unsigned char *pan_data_out,
    long *sequence_number,
    unsigned char *pin_block_out);

/* The same, with keys and blocks of variable length: ISO-4, AES DUKPT. */
extern void SECURITYAPI CSNBPTR2(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *input_pin_encrypting_key_identifier_length,
    unsigned char *input_pin_encrypting_key_identifier,
    long *output_pin_encrypting_key_identifier_length,
    unsigned char *output_pin_encrypting_key_identifier,
    long *authentication_key_identifier_length,
    unsigned char *authentication_key_identifier,
    long *input_pin_profile_length,
    unsigned char *input_pin_profile,
    long *input_pan_data_length,
    unsigned char *input_pan_data,
    long *input_pin_block_length,
    unsigned char *input_pin_block,
    long *output_pin_profile_length,
    unsigned char *output_pin_profile,
    long *output_pan_data_length,
    unsigned char *output_pan_data,
    long *authentication_data_length,
    unsigned char *authentication_data,
    long *output_pin_block_length,
    unsigned char *output_pin_block,
    long *reserved1_length,
    unsigned char *reserved1,
    long *reserved2_length,
    unsigned char *reserved2,
    long *reserved3_length,
    unsigned char *reserved3);

/* Verifies an encrypted PIN. */
extern void SECURITYAPI CSNBPVR(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    unsigned char *pin_encrypting_key_identifier,
    unsigned char *pin_verifying_key_identifier,
    unsigned char *pin_profile,
    unsigned char *pan_data,
    unsigned char *encrypted_pin_block,
    long *rule_array_count,
    unsigned char *rule_array,
    long *pin_check_length,
    unsigned char *data_array);

/* Makes the PIN block of a script that changes the PIN of a chip card. */
extern void SECURITYAPI CSNBPCU(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *authentication_issuer_master_key_identifier_length,
    unsigned char *authentication_issuer_master_key_identifier,
    long *encryption_issuer_master_key_identifier_length,
    unsigned char *encryption_issuer_master_key_identifier,
    long *key_generation_data_length,
    unsigned char *key_generation_data,
    long *new_reference_pin_key_identifier_length,
    unsigned char *new_reference_pin_key_identifier,
    unsigned char *new_reference_pin_block,
    unsigned char *new_reference_pin_profile,
    unsigned char *new_reference_pin_pan_data,
    long *current_reference_pin_key_identifier_length,
    unsigned char *current_reference_pin_key_identifier,
    unsigned char *current_reference_pin_block,
    unsigned char *current_reference_pin_profile,
    unsigned char *current_reference_pin_pan_data,
    long *output_pin_data_length,
    unsigned char *output_pin_data,
    unsigned char *output_pin_profile,
    long *output_pin_message_length,
    unsigned char *output_pin_message);

/* Derives the key of one transaction (DUKPT), as a token. */
extern void SECURITYAPI CSNBUKD(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *base_derivation_key_identifier_length,
    unsigned char *base_derivation_key_identifier,
    long *derivation_data_length,
    unsigned char *derivation_data,
    long *generated_key_identifier1_length,
    unsigned char *generated_key_identifier1,
    long *generated_key_identifier2_length,
    unsigned char *generated_key_identifier2,
    long *generated_key_identifier3_length,
    unsigned char *generated_key_identifier3,
    long *transport_key_identifier_length,
    unsigned char *transport_key_identifier,
    long *reserved2_length,
    unsigned char *reserved2,
    long *reserved3_length,
    unsigned char *reserved3,
    long *reserved4_length,
    unsigned char *reserved4,
    long *reserved5_length,
    unsigned char *reserved5,
    long *reserved6_length,
    unsigned char *reserved6);

/* Makes a card verification value. */
extern void SECURITYAPI CSNBCSG(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *pan_data,
    unsigned char *expiration_date,
    unsigned char *service_code,
    unsigned char *cvv_key_a_identifier,
    unsigned char *cvv_key_b_identifier,
    unsigned char *cvv_value);

/* Verifies a card verification value. */
extern void SECURITYAPI CSNBCSV(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *pan_data,
    unsigned char *expiration_date,
    unsigned char *service_code,
    unsigned char *cvv_key_a_identifier,
    unsigned char *cvv_key_b_identifier,
    unsigned char *cvv_value);

/* Assembles a token of a public key, or the skeleton of a private key's. */
extern void SECURITYAPI CSNDPKB(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *key_value_structure_length,
    unsigned char *key_value_structure,
    long *private_key_name_length,
    unsigned char *private_key_name,
    long *user_definable_data_length,
    unsigned char *user_definable_data,
    long *reserved_2_length,
    unsigned char *reserved_2,
    long *reserved_3_length,
    unsigned char *reserved_3,
    long *reserved_4_length,
    unsigned char *reserved_4,
    long *reserved_5_length,
    unsigned char *reserved_5,
    long *key_token_length,
    unsigned char *key_token);

/* Makes a private key. */
extern void SECURITYAPI CSNDPKG(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *regeneration_data_length,
    unsigned char *regeneration_data,
    long *skeleton_key_identifier_length,
    unsigned char *skeleton_key_identifier,
    unsigned char *transport_key_identifier,
    long *generated_key_identifier_length,
    unsigned char *generated_key_identifier);

/* Takes a private key from the clear to under the master key. */
extern void SECURITYAPI CSNDPKI(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *source_key_token_length,
    unsigned char *source_key_token,
    unsigned char *importer_key_identifier,
    long *target_key_identifier_length,
    unsigned char *target_key_identifier);

/* Takes the public half out of a private key's token. */
extern void SECURITYAPI CSNDPKX(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *source_key_identifier_length,
    unsigned char *source_key_identifier,
    long *target_public_key_token_length,
    unsigned char *target_public_key_token);

/* Encrypts with a public key. */
extern void SECURITYAPI CSNDPKE(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *key_value_length,
    unsigned char *key_value,
    long *data_structure_length,
    unsigned char *data_structure,
    long *public_key_identifier_length,
    unsigned char *public_key_identifier,
    long *enciphered_key_length,
    unsigned char *enciphered_key);

/* Decrypts with a private key. */
extern void SECURITYAPI CSNDPKD(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *enciphered_key_length,
    unsigned char *enciphered_key,
    long *data_structure_length,
    unsigned char *data_structure,
    long *private_key_identifier_length,
    unsigned char *private_key_identifier,
    long *key_value_length,
    unsigned char *key_value);

/* Signs. */
extern void SECURITYAPI CSNDDSG(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *private_key_identifier_length,
    unsigned char *private_key_identifier,
    long *hash_length,
    unsigned char *hash,
    long *signature_field_length,
    long *signature_bit_length,
    unsigned char *signature_field);

/* Verifies a signature. */
extern void SECURITYAPI CSNDDSV(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *public_key_identifier_length,
    unsigned char *public_key_identifier,
    long *hash_length,
    unsigned char *hash,
    long *signature_field_length,
    unsigned char *signature_field);

/* Re-enciphers a private key's token to another master key. */
extern void SECURITYAPI CSNDKTC(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *key_identifier_length,
    unsigned char *key_identifier);

/* Lists the private keys that are kept inside. */
extern void SECURITYAPI CSNDRKL(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *key_label_mask,
    long *retained_keys_count,
    long *key_labels_count,
    unsigned char *key_labels);

/* Deletes a private key that is kept inside. */
extern void SECURITYAPI CSNDRKD(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *key_label);

/* Makes a symmetric key, once under the master key and once under a public key. */
extern void SECURITYAPI CSNDSYG(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *key_encrypting_key_identifier,
    long *rsa_public_key_identifier_length,
    unsigned char *rsa_public_key_identifier,
    long *local_enciphered_key_identifier_length,
    unsigned char *local_enciphered_key_identifier,
    long *rsa_enciphered_key_length,
    unsigned char *rsa_enciphered_key);

/* Takes a symmetric key from under a public key to under the master key. */
extern void SECURITYAPI CSNDSYI(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *rsa_enciphered_key_length,
    unsigned char *rsa_enciphered_key,
    long *rsa_private_key_identifier_length,
    unsigned char *rsa_private_key_identifier,
    long *target_key_identifier_length,
    unsigned char *target_key_identifier);

/* Takes an AES or HMAC key from under an AES importer key to under the master key. */
extern void SECURITYAPI CSNDSYI2(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *enciphered_key_length,
    unsigned char *enciphered_key,
    long *transport_key_identifier_length,
    unsigned char *transport_key_identifier,
    long *key_associated_data_length,
    unsigned char *key_associated_data,
    long *target_key_identifier_length,
    unsigned char *target_key_identifier);

/* Takes a symmetric key from under the master key to under a public key, or under an AES exporter key. */
extern void SECURITYAPI CSNDSYX(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *source_key_identifier_length,
    unsigned char *source_key_identifier,
    long *transporter_key_identifier_length,
    unsigned char *transporter_key_identifier,
    long *enciphered_key_length,
    unsigned char *enciphered_key);

/* Empties key storage. Administrators alone. */
extern void SECURITYAPI CSNBKSI(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *file_name_length,
    unsigned char *file_name,
    long *description_length,
    unsigned char *description,
    unsigned char *clear_master_key);

/* Tells what the card is and in which state its master keys are. */
extern void SECURITYAPI CSUACFQ(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *verb_data_length,
    unsigned char *verb_data);

/* Tells the version of the library. */
extern void SECURITYAPI CSUACFV(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *version_data_length,
    unsigned char *version_data);

/* Enters, clears or sets a master key. Administrators alone. */
extern void SECURITYAPI CSNBMKP(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *key_part);

/* Says which of several cards a program means: there is one. */
extern void SECURITYAPI CSUACRA(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *resource_name_length,
    unsigned char *resource_name);

/* Takes that back. */
extern void SECURITYAPI CSUACRD(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *resource_name_length,
    unsigned char *resource_name);

/* Tests the random number generator and algorithms with known answers. */
extern void SECURITYAPI CSUARNT(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array);

/* Sets the card's environment identifier, and how many shares its master keys have. Administrators alone. */
extern void SECURITYAPI CSUACFC(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *verb_data_length,
    unsigned char *verb_data);

/* Registers the hash of a public key's certificate. Administrators alone. */
extern void SECURITYAPI CSNDPKH(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *public_key_name,
    long *hash_data_length,
    unsigned char *hash_data);

/* Registers a public key whose hash is registered: certificates that it signed are believed. Administrators alone. */
extern void SECURITYAPI CSNDPKR(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    unsigned char *public_key_name,
    long *public_key_certificate_length,
    unsigned char *public_key_certificate);

/* Gives a share of a master key to another card, and takes one. Administrators alone. */
extern void SECURITYAPI CSUAMKD(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *rule_array_count,
    unsigned char *rule_array,
    long *share_index,
    unsigned char *private_key_name,
    unsigned char *certifying_key_name,
    long *certificate_length,
    unsigned char *certificate,
    long *clone_info_encrypting_key_length,
    unsigned char *clone_info_encrypting_key,
    long *clone_info_length,
    unsigned char *clone_info);

/* Ours, not CCA's: forgets how often PINs were wrong. Administrators alone. */
extern void SECURITYAPI OBAPFL(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *limit,
    long *forget,
    long *accounts,
    long *blocked);

/* Ours, not CCA's: calls a user-defined extension. */
extern void SECURITYAPI OBUDXC(
    long *return_code,
    long *reason_code,
    long *exit_data_length,
    unsigned char *exit_data,
    long *name_length,
    unsigned char *name,
    long *input_length,
    unsigned char *input,
    long *code,
    long *output_length,
    unsigned char *output);

#ifdef __cplusplus
}
#endif

#endif
