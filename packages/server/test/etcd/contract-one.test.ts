// The storage contract on an etcd of one member, with a mirror that begins anew at every start.

import { etcdContract } from './contract.js'

etcdContract('etcd with one member', { members: 1, keepsMirror: false })
