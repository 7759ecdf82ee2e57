// Replays the table of audit events recorded from kube-apiserver, with one server per audit policy and flags.

import { replayTables } from './replay-tables.js'

replayTables((file) => file === 'audit.json')
