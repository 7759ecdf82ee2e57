# Client of the test kit of cluster-apiserver for POSIX shells, with curl and jq. Source it:
#
#   . ./testkit.sh
#   testkit_start --identity=kubernetes
#   testkit POST /faults '{"verb": "create", "resource": "configmaps", "times": 1, "error": {"code": 503}}'
#   api GET /api/v1/namespaces | jq .
#
# docs/testkit/control-api.md lists the endpoints. Functions print the JSON of the response; testkit fails for an error response.

# Starts a server with the given flags, and sets testkit_url. It ends with this shell, or with testkit_stop.
testkit_start() {
  testkit_folder=$(mktemp -d)
  : > "$testkit_folder/line"
  CLUSTER_PARENT_PID=$$ "${CLUSTER_APISERVER:-cluster-apiserver}" testserver "$@" > "$testkit_folder/line" &
  testkit_pid=$!
  trap testkit_stop EXIT
  until [ "$(wc -l < "$testkit_folder/line")" -gt 0 ]; do
    kill -0 "$testkit_pid" || return 1
    sleep 0.05
  done
  jq -r .ca "$testkit_folder/line" > "$testkit_folder/ca.crt"
  testkit_url=$(jq -r .url "$testkit_folder/line")
  # Header files, because other users can read the arguments of a process.
  (umask 077
    jq -r '"Authorization: Bearer \(.token)"' "$testkit_folder/line" > "$testkit_folder/api"
    jq -r '"Authorization: Bearer \(.testkit.token)"' "$testkit_folder/line" > "$testkit_folder/testkit")
}

testkit_stop() {
  trap - EXIT
  kill "$testkit_pid" 2> /dev/null
  wait "$testkit_pid"
  rm -rf "$testkit_folder"
}

# testkit METHOD PATH [BODY]: a request to the control API.
testkit() {
  testkit_status=$(testkit_send testkit "$1" "$testkit_url/testkit$2" "${3:-}") && testkit_print "$testkit_status"
}

# api METHOD PATH [BODY]: a request to the API, as the administrator. The status is in "$testkit_folder/status", 000 for a broken connection.
api() {
  testkit_send api "$1" "$testkit_url$2" "${3:-}" > "$testkit_folder/status" || true
  cat "$testkit_folder/body"
}

testkit_print() {
  if [ "$1" -lt 300 ]; then cat "$testkit_folder/body"; else cat "$testkit_folder/body" >&2 && return 1; fi
}

# Prints the status; the body is in a file.
testkit_send() {
  : > "$testkit_folder/body"
  set -- "$1" "$2" "$3" ${4:+--data-raw "$4"}
  testkit_header=$1 testkit_method=$2 testkit_target=$3
  shift 3
  # A proxy of the environment cannot reach this machine.
  curl --silent --noproxy '*' --max-time 60 --cacert "$testkit_folder/ca.crt" --header "@$testkit_folder/$testkit_header" \
    --header 'Content-Type: application/json' --request "$testkit_method" "$@" \
    --output "$testkit_folder/body" --write-out '%{http_code}' "$testkit_target"
}
