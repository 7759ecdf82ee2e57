// Replays recorded requests of kube-apiserver with --identity=cluster (API groups of cluster.io) and compares the responses.

import { replayAll } from './replay-all.js'

replayAll('cluster')
