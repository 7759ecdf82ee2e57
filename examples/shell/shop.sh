#!/bin/sh
# The prices of a shop, with kubectl: starts a server, works with it, and ends it.
set -eu

folder=$(mktemp -d)
"${CLUSTER_APISERVER:-cluster-apiserver}" --identity=kubernetes --bind-address=127.0.0.1 --secure-port=0 --data-dir="$folder/data" \
  > "$folder/log" &
server=$!
trap 'kill $server; wait $server || true; rm -rf "$folder"' EXIT

# The last line that it prints says that it is ready.
until grep -q '^ready' "$folder/log"; do
  kill -0 $server
  sleep 0.1
done
export KUBECONFIG="$folder/data/admin.conf"
kubectl=${KUBECTL:-kubectl}

"$kubectl" create namespace shop
"$kubectl" --namespace shop create configmap prices --from-literal=apple=3
test "$("$kubectl" --namespace shop get configmap prices --output 'jsonpath={.data.apple}')" = 3

# What alice may: nothing, until somebody says so.
! "$kubectl" auth can-i get configmaps --namespace shop --as alice
"$kubectl" --namespace shop create rolebinding readers --clusterrole=view --user=alice
"$kubectl" auth can-i get configmaps --namespace shop --as alice

echo 'the shop is open'
