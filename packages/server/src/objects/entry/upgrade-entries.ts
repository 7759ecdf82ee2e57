// Upgrades entries of format 0: adds API version, owners and index version to the header. Renames keys of unique values (cluster IPs).

import type { FormatUpgrade } from '../../storage/storage.js'
import { collectionOf } from '../object-keys.js'
import { ownerUids } from '../owner-index.js'
import { serversRange } from '../server-registry.js'
import { bodyStartOf, bytesOf, fixedBytes, formatOf, parseIndex, withMeta } from './entry-header.js'

export const entryUpgrade = (versions: ReadonlyMap<string, string>): FormatUpgrade => ({
  servers: serversRange,
  upgradeKey: (key) => (format0UniqueKey.test(key) ? `unique.${key.slice('claims.'.length)}` : key),
  upgradeValue(key, value) {
    if (value.length < fixedBytes || formatOf(bytesOf({ value })) !== 0) return value
    const apiVersion = versions.get(collectionOf(key))
    return apiVersion === undefined ? value : upgradeEntry(value, apiVersion)
  },
})

/** Keys of unique values in format 0. Excludes custom resources of a group such as `claims.example.com`, which has more dots. */
const format0UniqueKey = /^claims\.[^./]+\//

const ownersText = '"ownerReferences":['
const noOwners: readonly string[] = []

function upgradeEntry(value: Buffer, apiVersion: string): Buffer {
  const { version: indexVersion } = parseIndex({ value })
  const owners = value.includes(ownersText) ? ownersIn(value) : noOwners
  return withMeta(value, { apiVersion, indexVersion, owners })
}

const ownersIn = (value: Buffer): readonly string[] => ownerUids(JSON.parse(`{${value.toString('utf8', bodyStartOf(bytesOf({ value })))}}`))
