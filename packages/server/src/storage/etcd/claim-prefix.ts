// The format key of an etcd prefix: identity and numbering of its data. Written by the first server or a restore, checked at every start.

import { StorageRefusedError } from '../storage.js'
import type { EtcdClient } from './etcd-client.js'
import type { EtcdKeys } from './etcd-keys.js'
import type { KeyValue } from './grpc/etcd-messages.js'

export interface PrefixFormat {
  /** Name of the identity that owns the data. */
  readonly mark: string
  /** Added to all revisions: 0 for a new store; a restored store starts above its former revisions. */
  readonly base: number
  /** True until a restore has written all keys. */
  readonly isUnfinished: boolean
  readonly isUpgrading: boolean
}

interface StoredFormat extends PrefixFormat {
  readonly version: number
  /** etcd's revision of the format key. */
  readonly step: number
}

export interface ClaimOptions {
  readonly client: EtcdClient
  readonly keys: EtcdKeys
  readonly retryTimeoutMs: number
}

export const prefixFormat = 3
/** Format 1: older keys and entries. Format 2: a replica could own the right to write, which servers of format 3 do not respect. */
const olderFormats: readonly number[] = [1, 2]

/** Throws StorageRefusedError for a prefix with foreign data, data of another identity, or an unfinished restore. */
export async function claimPrefix(mark: string, options: ClaimOptions): Promise<PrefixFormat> {
  const { keys } = options
  const found = (await readStoredFormat(options)) ?? (await writeFirstFormat(mark, options))
  if (found.isUnfinished) {
    throw new StorageRefusedError(`a restore to the prefix ${keys.prefix} of etcd has not ended: remove its keys and restore again`)
  }
  if (found.mark !== mark) {
    const remedy = 'start the server as it was started before, or choose another prefix'
    throw new StorageRefusedError(`the prefix ${keys.prefix} of etcd belongs to '${found.mark}', not to '${mark}': ${remedy}`)
  }
  return found.version === prefixFormat ? found : startUpgrade(found, mark, options)
}

export const readFormat = (options: ClaimOptions): Promise<PrefixFormat | undefined> => readStoredFormat(options)

async function readStoredFormat({ client, keys, retryTimeoutMs }: ClaimOptions): Promise<StoredFormat | undefined> {
  const [item] = (await client.range({ key: keys.format }, retryTimeoutMs)).items
  return item && parseFormat(item, keys)
}

export async function hasData({ client, keys, retryTimeoutMs }: ClaimOptions): Promise<boolean> {
  const { items } = await client.range({ key: keys.dataStart, end: keys.dataEnd, limit: 1, keysOnly: true }, retryTimeoutMs)
  return items.length > 0
}

export function formatValue(format: PrefixFormat): Buffer {
  const { mark, base, isUnfinished, isUpgrading } = format
  return Buffer.from(JSON.stringify({ version: prefixFormat, mark, base, isUnfinished, ...(isUpgrading ? { isUpgrading } : {}) }))
}

async function writeFirstFormat(mark: string, options: ClaimOptions): Promise<StoredFormat> {
  const { keys } = options
  if (await hasData(options)) {
    throw new StorageRefusedError(`the prefix ${keys.prefix} of etcd holds data of something else: choose another prefix`)
  }
  const format = { mark, base: 0, isUnfinished: false, isUpgrading: false }
  return (await replaceFormat(format, 0, options)) ?? { ...format, version: prefixFormat, step: 0 }
}

/** From now on servers of the older format refuse the prefix. */
async function startUpgrade(found: StoredFormat, mark: string, options: ClaimOptions): Promise<PrefixFormat> {
  const format = { ...found, isUpgrading: true }
  return (await replaceFormat(format, found.step, options)) === undefined ? format : claimPrefix(mark, options)
}

/** Writes the format if its key is at `step`; otherwise returns the format that is there. */
async function replaceFormat(
  format: PrefixFormat,
  step: number,
  { client, keys, retryTimeoutMs }: ClaimOptions,
): Promise<StoredFormat | undefined> {
  const key = keys.format
  const { responses } = await client.transact(
    {
      compare: [{ key, modRevision: step }],
      success: [{ kind: 'put', key, value: [formatValue(format)] }],
      failure: [{ kind: 'range', request: { key } }],
    },
    retryTimeoutMs,
  )
  const item = responses[0]?.range?.items[0]
  return item && parseFormat(item, keys)
}

function parseFormat({ value, modRevision: step }: KeyValue, { prefix }: EtcdKeys): StoredFormat {
  const { version, mark, base, isUnfinished, isUpgrading } = jsonOf(value) as Partial<StoredFormat>
  const isOlder = version !== undefined && olderFormats.includes(version)
  if ((isOlder || version === prefixFormat) && mark !== undefined && base !== undefined) {
    return { mark, base, isUnfinished: isUnfinished === true, isUpgrading: isUpgrading === true || isOlder, version, step }
  }
  const isNewer = version !== undefined && version > prefixFormat
  const formatText = isNewer
    ? `a newer format than this server knows (${version}, not ${prefixFormat})`
    : 'a format that this server does not know'
  throw new StorageRefusedError(`the prefix ${prefix} of etcd has ${formatText}: use the version of the server that wrote it`)
}

function jsonOf(value: Buffer): object {
  try {
    return Object(JSON.parse(value.toString()))
  } catch {
    return {}
  }
}
