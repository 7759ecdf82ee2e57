#!/bin/sh
# A shop that retries: run it with testkit.sh next to it.
set -eu

. "$(dirname "$0")/testkit.sh"
testkit_start --event-ttl=1h
config_maps=/api/v1/namespaces/default/configmaps

# expect STATUS METHOD PATH [BODY]
expect() {
  expected=$1
  shift
  api "$@" > /dev/null
  test "$(cat "$testkit_folder/status")" = "$expected"
}

testkit POST /faults '{"verb": "create", "resource": "configmaps", "times": 2, "error": {"code": 503}}' > /dev/null
expect 503 POST $config_maps '{"metadata": {"name": "total"}}'
expect 503 POST $config_maps '{"metadata": {"name": "total"}}'
expect 201 POST $config_maps '{"metadata": {"name": "total"}}'
testkit POST /faults/check > /dev/null
testkit DELETE /faults > /dev/null

expect 201 POST /api/v1/namespaces/default/events '{"metadata": {"name": "opened"}, "involvedObject": {"namespace": "default"}}'
testkit POST /clock/advance '{"by": "2h"}' > /dev/null
expect 404 GET /api/v1/namespaces/default/events/opened

test "$(testkit GET '/history?object=configmaps/default/total' | jq -r '.versions[].verb')" = create
! testkit POST /clock/advance '{"by": "soon"}' 2> /dev/null

echo 'the shop is open'
