// Hash of a pod template or revision, for names and labels: equal values have equal hashes, whatever the order of their members.

import { sortTexts } from '@cluster-apiserver/api/base/text-order.js'

/** Without vowels and similar characters, so that no words arise. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'

/** FNV-1a of the canonical JSON, in characters that are valid in names. `collisionCount` gives another hash to the same value. */
export function hashOf(value: unknown, collisionCount?: number): string {
  let hash = fnv(canonicalText(value), 0x811c9dc5)
  if (collisionCount !== undefined && collisionCount !== 0) hash = fnv(String(collisionCount), hash)
  return Array.from(String(hash), (digit) => alphabet[digit.charCodeAt(0) % alphabet.length]).join('')
}

function fnv(text: string, start: number): number {
  const bytes = Buffer.from(text)
  let hash = start
  // An iterator would take 20 ms for the largest template.
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193)
  return hash >>> 0
}

function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? 'null')
  const members = value as { readonly [name: string]: unknown }
  const names = sortTexts(Object.keys(members).filter((name) => members[name] !== undefined))
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalText(members[name])}`).join(',')}}`
}
