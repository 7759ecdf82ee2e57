// The tests that every storage engine must pass, on an etcd of three members; after a reopen the engine reuses its local copy of the data.

import { etcdContract } from './contract.js'

etcdContract('etcd with three members', { members: 3, keepsMirror: true })
