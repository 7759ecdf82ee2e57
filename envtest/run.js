// Runs a command of KUBEBUILDER_ASSETS (docs/move-from-envtest.md): `run.js PARENT_PID apiserver|etcd|kubectl [ARGUMENT...]`.

'use strict'

// Ends with the parent, so that a killed test leaves no server behind. envtest passes no pipe that would close, and Node.js has no signal for
// the death of a parent; the id of the parent changes then, maybe before Node.js has started.
const [parent, command] = process.argv.splice(2, 2)
setInterval(() => process.ppid === Number(parent) || process.exit(1), 200).unref()

if (command === 'kubectl') require('../bin/clusterctl')
else {
  process.argv.splice(2, 0, `envtest-${command}`)
  require('../bin/cluster-apiserver')
}
