// Where things are in etcd. Everything begins with the prefix, so that a role of etcd can be limited to it:
//
//   <prefix>/<key>                the data
//   <prefix>.head                 written by every transaction: its revision is that of the newest data. Watched together with the data,
//                                 which follow it in the order of keys; the others come before it
//   <prefix>.head/owner           who may write: see ownership.ts. Watched, too
//   <prefix>.head/readers/<process>  that a process answers reads: see reader-key.ts
//   <prefix>.compacted            up to which revision history was given up, and by whom last
//   <prefix>.format               whose data this is, and how it is numbered
//   <prefix>.format/upgrade       there while a server brings the data up to date: see upgrade-prefix.ts
//   <prefix>.authors/<process>    written by every transaction of one process, so that it knows which of them arrived

import { StorageRefusedError } from '../storage.js'

export interface EtcdKeys {
  readonly prefix: string
  readonly head: string
  readonly owner: string
  /** Where the range of the head, the owner and the readers ends. */
  readonly headEnd: string
  readonly compacted: string
  readonly format: string
  readonly upgrade: string
  /** The range of the data. */
  readonly dataStart: string
  readonly dataEnd: string
  dataKey(key: string): string
  /** The key of our storage for a key of etcd in the range of the data. */
  ownKey(bytes: Buffer): string
  /** What was watched is one of these, or belongs to somebody whose prefix begins like ours. */
  kindOf(bytes: Buffer): 'data' | 'head' | 'owner' | 'reader' | 'other'
  author(processId: string): string
  reader(processId: string): string
}

export function createEtcdKeys(given: string): EtcdKeys {
  const prefix = normalPrefix(given)
  const dataStart = `${prefix}/`
  const head = `${prefix}.head`
  const start = Buffer.from(dataStart)
  const headBytes = Buffer.from(head)
  const owner = `${head}/owner`
  const ownerBytes = Buffer.from(owner)
  const readers = `${head}/readers/`
  const readersBytes = Buffer.from(readers)
  return {
    prefix,
    head,
    owner,
    headEnd: `${head}0`,
    compacted: `${prefix}.compacted`,
    format: `${prefix}.format`,
    upgrade: `${prefix}.format/upgrade`,
    dataStart,
    dataEnd: `${prefix}0`,
    dataKey: (key) => dataStart + key,
    ownKey: (bytes) => bytes.toString('utf8', start.length),
    kindOf(bytes) {
      if (bytes.subarray(0, start.length).equals(start)) return 'data'
      if (bytes.equals(headBytes)) return 'head'
      if (bytes.equals(ownerBytes)) return 'owner'
      return bytes.subarray(0, readersBytes.length).equals(readersBytes) ? 'reader' : 'other'
    },
    author: (processId) => `${prefix}.authors/${processId}`,
    reader: (processId) => readers + processId,
  }
}

function normalPrefix(given: string): string {
  const prefix = `/${given.split('/').filter(Boolean).join('/')}`
  if (prefix === '/') throw new StorageRefusedError('the prefix of keys in etcd must not be empty: give it a name such as /registry')
  return prefix
}
