// What servers wrote before entries said what they are, as it is written now: with versions, owners and index versions, and unique keys under
// their present name. Nothing is decoded that need not be, and what is of this format already is left alone.

import { indexVersionFor } from '../api/index-version.js'
import type { FormatUpgrade } from '../storage/storage.js'
import { bodyStartOf, bytesOf, fixedBytes, formatOf, withMeta } from './entry-header.js'
import { collectionOf } from './keys.js'
import { ownerUids } from './owner-fields.js'
import { parseIndex } from './selector-index.js'
import { serversRange } from './server-registry.js'

/** `versions`: in which version each collection was written by servers of that format. */
export const entryUpgrade = (versions: ReadonlyMap<string, string>): FormatUpgrade => ({
  servers: serversRange,
  upgradeKey: (key) => (oldUniqueKey.test(key) ? `unique.${key.slice('claims.'.length)}` : key),
  upgradeValue(key, value) {
    if (value.length < fixedBytes || formatOf(bytesOf({ value })) !== 0) return value
    const apiVersion = versions.get(collectionOf(key))
    return apiVersion === undefined ? value : upgraded(value, apiVersion)
  },
})

/** Collections of custom kinds have the domain of their group in their name, and so another point. */
const oldUniqueKey = /^claims\.[^./]+\//

const ownersText = '"ownerReferences":['
const nobody: readonly string[] = []

function upgraded(value: Buffer, apiVersion: string): Buffer {
  const { index, version } = parseIndex({ value })
  const owners = value.includes(ownersText) ? ownersIn(value) : nobody
  return withMeta(value, { apiVersion, indexVersion: version ?? indexVersionFor(Object.keys(index.fields ?? {})), owners })
}

const ownersIn = (value: Buffer): readonly string[] => ownerUids(JSON.parse(`{${value.toString('utf8', bodyStartOf(bytesOf({ value })))}}`))
