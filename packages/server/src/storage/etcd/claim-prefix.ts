// Whose data a prefix of etcd holds, and how it is numbered: written once, by the first who opens it or by a restore, and checked ever after.

import { StorageRefusedError } from '../storage.js'
import type { EtcdClient } from './etcd-client.js'
import type { EtcdKeys } from './etcd-keys.js'
import { decodeRange, decodeTxn, encodeRange, encodeTxn, type KeyValue, methods } from './messages.js'

export interface PrefixFormat {
  /** Whose data this is. */
  readonly mark: string
  /** See numbering.ts. */
  readonly base: number
  /** A restore has begun and not ended. */
  readonly isUnfinished: boolean
  /** Some of it was written by a server of an older format, and nobody has gone through it since. */
  readonly isUpgrading: boolean
}

interface FoundFormat extends PrefixFormat {
  readonly version: number
  /** etcd's revision of it. */
  readonly step: number
}

export interface ClaimOptions {
  readonly client: EtcdClient
  readonly keys: EtcdKeys
  readonly patienceMs: number
}

export const prefixFormat = 2
/** Whose entries this server can read: it takes such a prefix over. */
const olderVersion = 1

/** Throws StorageRefusedError for a prefix that holds something else, or something incomplete. */
export async function claimPrefix(mark: string, options: ClaimOptions): Promise<PrefixFormat> {
  const { keys } = options
  const found = (await readFound(options)) ?? (await writeFirst(mark, options))
  if (found.isUnfinished) {
    throw new StorageRefusedError(`a restore to the prefix ${keys.prefix} of etcd has not ended: remove its keys and restore again`)
  }
  if (found.mark !== mark) {
    const remedy = 'start the server as it was started before, or choose another prefix'
    throw new StorageRefusedError(`the prefix ${keys.prefix} of etcd belongs to '${found.mark}', not to '${mark}': ${remedy}`)
  }
  return found.version === prefixFormat ? found : takeOver(found, mark, options)
}

export const readFormat = (options: ClaimOptions): Promise<PrefixFormat | undefined> => readFound(options)

async function readFound({ client, keys, patienceMs }: ClaimOptions): Promise<FoundFormat | undefined> {
  const request = encodeRange({ key: keys.format })
  const answer = await client.persist(performance.now() + patienceMs, (timeoutMs) => client.call(methods.range, request, timeoutMs))
  const [item] = decodeRange(answer).items
  return item && parseFormat(item, keys)
}

/** Whether the prefix holds any data. */
export async function hasData({ client, keys, patienceMs }: ClaimOptions): Promise<boolean> {
  const request = encodeRange({ key: keys.dataStart, end: keys.dataEnd, limit: 1, keysOnly: true })
  const answer = await client.persist(performance.now() + patienceMs, (timeoutMs) => client.call(methods.range, request, timeoutMs))
  return decodeRange(answer).items.length > 0
}

export function formatValue(format: PrefixFormat): Buffer {
  const { mark, base, isUnfinished, isUpgrading } = format
  return Buffer.from(JSON.stringify({ version: prefixFormat, mark, base, isUnfinished, ...(isUpgrading ? { isUpgrading } : {}) }))
}

async function writeFirst(mark: string, options: ClaimOptions): Promise<FoundFormat> {
  const { keys } = options
  if (await hasData(options)) {
    throw new StorageRefusedError(`the prefix ${keys.prefix} of etcd holds data of something else: choose another prefix`)
  }
  const format = { mark, base: 0, isUnfinished: false, isUpgrading: false }
  // Another replica may have been first.
  return (await replace(format, 0, options)) ?? { ...format, version: prefixFormat, step: 0 }
}

/** From now on servers of the older format refuse the prefix. */
async function takeOver(found: FoundFormat, mark: string, options: ClaimOptions): Promise<PrefixFormat> {
  const format = { ...found, isUpgrading: true }
  return (await replace(format, found.step, options)) === undefined ? format : claimPrefix(mark, options)
}

/** Writes the format if it is at a revision of etcd; otherwise answers with what is there. */
async function replace(format: PrefixFormat, step: number, { client, keys, patienceMs }: ClaimOptions): Promise<FoundFormat | undefined> {
  const key = keys.format
  const request = encodeTxn(
    {
      compare: [{ key, modRevision: step }],
      success: [{ kind: 'put', key, value: [formatValue(format)] }],
      failure: [{ kind: 'range', request: { key } }],
    },
    256,
  )
  const answer = await client.persist(performance.now() + patienceMs, (timeoutMs) => client.call(methods.txn, request, timeoutMs))
  const item = decodeTxn(answer).answers[0]?.range?.items[0]
  return item && parseFormat(item, keys)
}

function parseFormat({ value, modRevision: step }: KeyValue, { prefix }: EtcdKeys): FoundFormat {
  const { version, mark, base, isUnfinished, isUpgrading } = jsonOf(value) as Partial<FoundFormat>
  const isKnown = version === prefixFormat || version === olderVersion
  if (isKnown && mark !== undefined && base !== undefined) {
    return { mark, base, isUnfinished: isUnfinished === true, isUpgrading: isUpgrading === true || version === olderVersion, version, step }
  }
  const isNewer = version !== undefined && version > prefixFormat
  const age = isNewer
    ? `a newer format than this server knows (${version}, not ${prefixFormat})`
    : 'a format that this server does not know'
  throw new StorageRefusedError(`the prefix ${prefix} of etcd has ${age}: use the version of the server that wrote it`)
}

function jsonOf(value: Buffer): object {
  try {
    return Object(JSON.parse(value.toString()))
  } catch {
    return {}
  }
}
