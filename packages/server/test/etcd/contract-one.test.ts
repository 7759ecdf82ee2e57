// The tests that every storage engine must pass, on an etcd of one member; after a reopen the engine reads everything from etcd.

import { etcdContract } from './contract.js'

etcdContract('etcd with one member', { members: 1, keepsMirror: false })
