//! Nothing: the packages below stand for their one dependency, the source of an OpenSSL.
