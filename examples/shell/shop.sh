#!/bin/sh
# Starts a server, tests it with kubectl, and stops it.
set -eu

folder=$(mktemp -d)
"${CLUSTER_APISERVER:-cluster-apiserver}" --identity=kubernetes --bind-address=127.0.0.1 --secure-port=0 --data-dir="$folder/data" \
  > "$folder/log" &
server=$!
trap 'kill $server; wait $server || true; rm -rf "$folder"' EXIT

# The last line on standard output begins with "ready".
until grep -q '^ready' "$folder/log"; do
  kill -0 $server
  sleep 0.1
done
export KUBECONFIG="$folder/data/admin.conf"
kubectl=${KUBECTL:-kubectl}

"$kubectl" create namespace shop
"$kubectl" --namespace shop create configmap prices --from-literal=apple=3
test "$("$kubectl" --namespace shop get configmap prices --output 'jsonpath={.data.apple}')" = 3

# alice has no permissions until a RoleBinding grants some.
! "$kubectl" auth can-i get configmaps --namespace shop --as alice
"$kubectl" --namespace shop create rolebinding readers --clusterrole=view --user=alice
"$kubectl" auth can-i get configmaps --namespace shop --as alice

echo 'the shop is open'
