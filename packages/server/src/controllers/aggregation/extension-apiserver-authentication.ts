// Merges the client CAs and request-header settings of this server into the ConfigMap extension-apiserver-authentication.

import { X509Certificate } from 'node:crypto'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { type ApiObject, members } from '@cluster-apiserver/api/api/object.js'
import { ensureObjects, type WantedObject } from '../bootstrap/ensure-objects.js'
import { type ControllerParts, KeyedController } from '../framework/controller.js'
import type { Controller } from '../leader-election/leader-election.js'

const repairDelayMs = 1000

interface TrustSource {
  current(): Trusted
  /** Returns the function that unsubscribes. */
  onChange(listener: () => void): () => void
}

export const publishExtensionAuthentication = (parts: ControllerParts, trusted: TrustSource): Controller => {
  const { engine, catalogs } = parts
  return new KeyedController(parts, {
    name: 'cluster_authentication_trust_controller',
    sources: (catalog) => {
      const resource = catalog.find('', 'v1', 'configmaps')
      const namespace = engine.identity.prefixed('system')
      if (resource === undefined) return []
      return [
        {
          resource,
          namespace,
          matches: ({ key }) => key.endsWith(`/${authenticationConfigMapName}`),
          keyOf: (_, eventType) =>
            eventType === 'DELETED' ? authenticationConfigMapName : { key: authenticationConfigMapName, afterMs: repairDelayMs },
        },
      ]
    },
    onExternalChange: (resync) => trusted.onChange(resync),
    work: async () => {
      await ensureObjects(engine, catalogs.current, [authenticationConfigMap(engine.identity, trusted.current(), engine.clock.now())])
      return undefined
    },
  })
}

/** Entries of the ConfigMap: certificates as PEM, lists as JSON. */
export type Trusted = { readonly [name: string]: string }

const authenticationConfigMapName = 'extension-apiserver-authentication'

/** Created even without entries, because extension servers wait for it. */
export function authenticationConfigMap(identity: Identity, trusted: Trusted, now: number): WantedObject {
  const namespace = identity.prefixed('system')
  const data = Object.keys(trusted).length === 0 ? {} : { data: trusted }
  return {
    group: '',
    version: 'v1',
    resource: 'configmaps',
    namespace,
    object: { metadata: { name: authenticationConfigMapName, namespace }, ...data } as ApiObject,
    reconcile: (stored) => {
      const before = (members(stored)['data'] ?? {}) as Trusted
      const after = mergeTrusted(before, trusted, now)
      return after === before ? stored : ({ ...stored, data: after } as ApiObject)
    },
  }
}

export function mergeTrusted(stored: Trusted, trusted: Trusted, now: number): Trusted {
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

function joinCertificates(stored: string, configured: string, now: number): string {
  const isValid = (pem: string): boolean => {
    try {
      return Date.parse(new X509Certificate(pem).validTo) > now
    } catch {
      return false // Not a certificate.
    }
  }
  const configuredItems = certificatesIn(configured)
  const others = certificatesIn(stored).filter((pem) => !configuredItems.includes(pem) && isValid(pem))
  if (others.length === 0) return configured
  // Keep the stored order; otherwise two servers would rewrite it alternately.
  const known = certificatesIn(stored).filter((pem) => configuredItems.includes(pem) || others.includes(pem))
  return `${[...new Set([...known, ...configuredItems])].join('\n')}\n`
}

function joinLists(stored: string, configured: string): string {
  const [before, configuredItems] = [readList(stored), readList(configured)]
  const missing = configuredItems.filter((item) => !before.includes(item))
  return missing.length === 0 && stored !== '' ? stored : JSON.stringify([...before, ...missing])
}

function readList(text: string): readonly string[] {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : []
  } catch {
    return [] // Not a JSON list: replaced.
  }
}
