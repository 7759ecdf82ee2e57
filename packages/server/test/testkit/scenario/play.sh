#!/bin/sh
# Plays the scenario with examples/testkit/shell/testkit.sh: prints the result of each step as a line of JSON.
set -eu

. "$1/testkit.sh"
scenario=$2

field() { printf '%s' "$step" | jq -r "$1"; }

# Runs a control request, and keeps the member of its JSON: act FILTER METHOD PATH [BODY].
act() {
  filter=$1
  shift
  if testkit "$@" > "$testkit_folder/result" 2> /dev/null; then status='"ok"'; value=$(jq "$filter" "$testkit_folder/result"); else status='"error"'; fi
}

play() {
  value=null
  case $(field .do) in
    api)
      value=$(api "$(field .method)" "$(field .path)" "$(field '.body // empty | tojson')")
      status=$(jq -n "$(sed 's/^0*\(.\)/\1/' "$testkit_folder/status")")
      ;;
    fault) act . POST /faults "$(field '.rule | tojson')" ;;
    faults) act .faults GET /faults ;;
    checkFaults) act null POST /faults/check ;;
    clearFaults) act null DELETE /faults ;;
    advance) act .now POST /clock/advance "$(field '{by} | tojson')" ;;
    setClock) act .now POST /clock/set "$(field '{to} | tojson')" ;;
    idle) act null POST /idle ;;
    history) act .versions GET "/history?object=$(field '.object | @uri')" ;;
    requests) act .requests GET "/requests?$(field '.filter | to_entries | map("\(.key)=\(.value | @uri)") | join("&")')" ;;
    clearRequests) act null DELETE /requests ;;
    *) echo "unknown step $step" >&2 && exit 1 ;;
  esac
  printf '%s' "${value:-null}" | jq -c --argjson step "$step" --argjson status "$status" \
    '. as $value | [$status] + [($step.pick // [])[] as $path | (try ($value | getpath($path)) catch null)
      | if type == "string" and $step.chars then .[:$step.chars] else . end]'
}

flags=$(jq -r '.flags | @sh' "$scenario")
eval "testkit_start $flags"
jq -c '.steps[]' "$scenario" > "$testkit_folder/steps"
while IFS= read -r step; do play; done < "$testkit_folder/steps"
