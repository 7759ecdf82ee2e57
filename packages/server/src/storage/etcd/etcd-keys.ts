// Keys in etcd. All begin with the prefix, so that an etcd role can be limited to it:
//   <prefix>/<key>                the data
//   <prefix>.head                 written by every transaction, watched together with the data; the other keys sort before this range
//   <prefix>.compacted            revision up to which history is compacted
//   <prefix>.format               identity and numbering of the data
//   <prefix>.format/upgrade       during an upgrade of an older format: lock of the replica that upgrades
//   <prefix>.authors/<process>    written by every transaction of a process, to detect which ones were stored

import { StorageRefusedError } from '../storage.js'

export interface EtcdKeys {
  readonly prefix: string
  readonly head: string
  /** Key of format 2, deleted by the upgrade: the replica that alone was allowed to write. */
  readonly formerOwner: string
  readonly compacted: string
  readonly format: string
  readonly upgrade: string
  readonly dataStart: string
  readonly dataEnd: string
  dataKey(key: string): string
  storageKeyOf(bytes: Buffer): string
  /** `other`: a key of another store whose prefix starts like this one's, or of an older format. */
  kindOf(bytes: Buffer): 'data' | 'head' | 'other'
  author(processId: string): string
}

export function createEtcdKeys(configuredPrefix: string): EtcdKeys {
  const prefix = normalizePrefix(configuredPrefix)
  const dataStart = `${prefix}/`
  const head = `${prefix}.head`
  const start = Buffer.from(dataStart)
  const headBytes = Buffer.from(head)
  return {
    prefix,
    head,
    formerOwner: `${head}/owner`,
    compacted: `${prefix}.compacted`,
    format: `${prefix}.format`,
    upgrade: `${prefix}.format/upgrade`,
    dataStart,
    dataEnd: `${prefix}0`,
    dataKey: (key) => dataStart + key,
    storageKeyOf: (bytes) => bytes.toString('utf8', start.length),
    kindOf(bytes) {
      if (bytes.subarray(0, start.length).equals(start)) return 'data'
      return bytes.equals(headBytes) ? 'head' : 'other'
    },
    author: (processId) => `${prefix}.authors/${processId}`,
  }
}

function normalizePrefix(configuredPrefix: string): string {
  const prefix = `/${configuredPrefix.split('/').filter(Boolean).join('/')}`
  if (prefix === '/') throw new StorageRefusedError('the prefix of keys in etcd must not be empty: give it a name such as /registry')
  return prefix
}
