// Whom the servers on this store trust to vouch for clients, for extension servers and controllers that want to do the same. Each server adds
// what it trusts itself, so that servers with different settings, as while an authority is replaced, do not undo one another.

import { X509Certificate } from 'node:crypto'
import type { Identity } from '../../api/identity.js'
import { type ApiObject, members } from '../../api/object.js'
import type { Wanted } from './wanted.js'

/** By the names under which the config map has them: certificates in PEM form, and lists as JSON. */
export type Trusted = { readonly [name: string]: string }

export const trustMapName = 'extension-apiserver-authentication'

/** It is there even where nobody is trusted: who looks for it finds that, instead of looking again and again. */
export function trustMap(identity: Identity, trusted: Trusted, now: number): Wanted {
  const namespace = identity.prefixed('system')
  const data = Object.keys(trusted).length === 0 ? {} : { data: trusted }
  return {
    group: '',
    version: 'v1',
    resource: 'configmaps',
    namespace,
    object: { metadata: { name: trustMapName, namespace }, ...data } as ApiObject,
    reconcile: (stored) => {
      const before = (members(stored)['data'] ?? {}) as Trusted
      const after = withTrusted(before, trusted, now)
      return after === before ? stored : ({ ...stored, data: after } as ApiObject)
    },
  }
}

/** What is stored with what is missing of it; the same value when nothing is. */
export function withTrusted(stored: Trusted, trusted: Trusted, now: number): Trusted {
  const next: Record<string, string> = { ...stored }
  for (const [name, text] of Object.entries(trusted)) {
    const before = stored[name]
    if (before !== undefined) next[name] = name.endsWith('-ca-file') ? joinCertificates(before, text, now) : joinLists(before, text)
    else next[name] = text
  }
  return Object.entries(next).every(([name, text]) => stored[name] === text) ? stored : next
}

const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

const certificatesIn = (text: string): readonly string[] => text.match(certificate) ?? []

/** Those of ours as they are; of the others, those that are still good. */
function joinCertificates(stored: string, own: string, now: number): string {
  const isGood = (pem: string): boolean => {
    try {
      return Date.parse(new X509Certificate(pem).validTo) > now
    } catch {
      return false // Somebody wrote this by hand, and nobody could use it.
    }
  }
  const mine = certificatesIn(own)
  const theirs = certificatesIn(stored).filter((pem) => !mine.includes(pem) && isGood(pem))
  if (theirs.length === 0) return own
  // In the order in which they were, so that two servers do not take turns in putting their own first.
  const known = certificatesIn(stored).filter((pem) => mine.includes(pem) || theirs.includes(pem))
  return `${[...new Set([...known, ...mine])].join('\n')}\n`
}

function joinLists(stored: string, own: string): string {
  const [before, mine] = [readList(stored), readList(own)]
  const missing = mine.filter((word) => !before.includes(word))
  return missing.length === 0 && stored !== '' ? stored : JSON.stringify([...before, ...missing])
}

function readList(text: string): readonly string[] {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? list.filter((word) => typeof word === 'string') : []
  } catch {
    return [] // Not written by a server: as if it were not there.
  }
}
