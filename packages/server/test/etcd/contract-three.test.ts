// The storage contract on an etcd of three members, with a mirror that is kept from one start to the next.

import { etcdContract } from './contract.js'

etcdContract('etcd with three members', { members: 3, keepsMirror: true })
