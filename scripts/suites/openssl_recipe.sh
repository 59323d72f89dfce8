#!/bin/bash
# Runs one of OpenSSL's recipes: called by openssl.sh, which exports what is used here. Its output is $out/RECIPE.tap.
recipe=$1
export OPENSSL_CONF=$SRCTOP/apps/openssl.cnf OPENSSL_CONF_INCLUDE=$BLDTOP/test OPENSSL_MODULES=$BLDTOP/providers
export LD_LIBRARY_PATH=$BLDTOP OPENSSL_ENGINES=$BLDTOP/engines CTLOG_FILE=$SRCTOP/test/ct/log_list.cnf RESULT_D=$out/runs
mkdir -p "$RESULT_D"
# Works in a context of its own alone, and wants to find nothing in the program's.
[ "$recipe" != 90-test_sslapi ] || OPENSSL_CONF=$PLAIN_CONF
# The number stays out of the name: versions number their recipes differently.
LD_PRELOAD=${OUTBOARD_PRELOAD:-} timeout --kill-after=10 "${RECIPE_LIMIT:-1800}" \
    perl -I "$SRCTOP/util/perl" "$SRCTOP/test/recipes/$recipe.t" >"$out/${recipe#*-}.tap" 2>&1
status=$?
# One that ends early, or is killed, must differ from one that does not.
case $status in
    0) end="ok - ${recipe#*-}" ;;
    12[4-9] | 1[3-9]? | 2??) end="not ok - ${recipe#*-}: killed, or out of time ($status)" ;;
    *) end="not ok - ${recipe#*-}" ;;
esac
echo "$end" >>"$out/ended.tap"
exit 0
