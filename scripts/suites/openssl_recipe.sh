#!/bin/bash
# Runs one of OpenSSL's recipes in the way of openssl.sh, which sets what is exported here: its output is $out/RECIPE.tap.
recipe=$1
export OPENSSL_CONF=$SRCTOP/apps/openssl.cnf OPENSSL_CONF_INCLUDE=$BLDTOP/test OPENSSL_MODULES=$BLDTOP/providers
export LD_LIBRARY_PATH=$BLDTOP OPENSSL_ENGINES=$BLDTOP/engines CTLOG_FILE=$SRCTOP/test/ct/log_list.cnf RESULT_D=$out/runs
mkdir -p "$RESULT_D"
# The number stays out of the name: versions number their recipes differently.
LD_PRELOAD=${OUTBOARD_PRELOAD:-} timeout --kill-after=10 "${RECIPE_LIMIT:-1800}" \
    perl -I "$SRCTOP/util/perl" "$SRCTOP/test/recipes/$recipe.t" >"$out/${recipe#*-}.tap" 2>&1
status=$?
[ $status = 0 ] || echo "$recipe: status $status" >&2
# One that ends early must differ from one that does not.
echo "ok - ended with status $status" >>"$out/${recipe#*-}.tap"
exit 0
