// Replays the tables of recorded inputs and results of kube-apiserver (VECTORS_ROOT), except audit.json, which is slow.

import { replayTables } from './replay-tables.js'

replayTables((file) => file !== 'audit.json')
