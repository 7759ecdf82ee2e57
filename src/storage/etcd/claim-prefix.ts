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
}

export interface ClaimOptions {
  readonly client: EtcdClient
  readonly keys: EtcdKeys
  readonly patienceMs: number
}

const formatVersion = 1

/** Throws StorageRefusedError for a prefix that holds something else, or something incomplete. */
export async function claimPrefix(mark: string, options: ClaimOptions): Promise<PrefixFormat> {
  const { keys } = options
  const found = (await readFormat(options)) ?? (await writeFirst(mark, options))
  if (found.isUnfinished) {
    throw new StorageRefusedError(`a restore to the prefix ${keys.prefix} of etcd has not ended: remove its keys and restore again`)
  }
  if (found.mark !== mark) {
    const remedy = 'start the server as it was started before, or choose another prefix'
    throw new StorageRefusedError(`the prefix ${keys.prefix} of etcd belongs to '${found.mark}', not to '${mark}': ${remedy}`)
  }
  return found
}

export async function readFormat({ client, keys, patienceMs }: ClaimOptions): Promise<PrefixFormat | undefined> {
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
  return Buffer.from(JSON.stringify({ version: formatVersion, ...format }))
}

async function writeFirst(mark: string, options: ClaimOptions): Promise<PrefixFormat> {
  const { client, keys, patienceMs } = options
  if (await hasData(options)) {
    throw new StorageRefusedError(`the prefix ${keys.prefix} of etcd holds data of something else: choose another prefix`)
  }
  const format = { mark, base: 0, isUnfinished: false }
  const key = keys.format
  const request = encodeTxn(
    {
      compare: [{ key, modRevision: 0 }],
      success: [{ kind: 'put', key, value: [formatValue(format)] }],
      failure: [{ kind: 'range', request: { key } }],
    },
    256,
  )
  const answer = await client.persist(performance.now() + patienceMs, (timeoutMs) => client.call(methods.txn, request, timeoutMs))
  // Another replica may have been first.
  const item = decodeTxn(answer).answers[0]?.range?.items[0]
  return item ? parseFormat(item, keys) : format
}

function parseFormat({ value }: KeyValue, { prefix }: EtcdKeys): PrefixFormat {
  try {
    const { version, mark, base, isUnfinished } = JSON.parse(value.toString()) as Partial<PrefixFormat> & { readonly version?: number }
    if (version === formatVersion && mark !== undefined && base !== undefined) return { mark, base, isUnfinished: isUnfinished === true }
  } catch {
    // Said below.
  }
  throw new StorageRefusedError(`the prefix ${prefix} of etcd has a format that this server does not know: use the server that wrote it`)
}
