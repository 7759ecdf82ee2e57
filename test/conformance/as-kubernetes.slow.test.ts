// Replays recorded requests of kube-apiserver with --identity=kubernetes (API groups of k8s.io) and compares the responses.

import { replayAll } from './replay-all.js'

replayAll('kubernetes')
