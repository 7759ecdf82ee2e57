// The two plugins that ask hooks, with what they share.

import type { Resource } from '../../api/catalog.js'
import type { CatalogSource } from '../../api/catalog-source.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { Plugin } from '../admission.js'
import { lookupOf } from '../lookup.js'
import type { FindCredentials, HookClients } from './hook-clients.js'
import { hookList } from './hook-list.js'
import type { HookTallies } from './hook-tallies.js'
import { mutatingWebhooks, type WebhookParts } from './mutating-webhooks.js'
import type { RecordReview } from './review-recorder.js'
import { validatingWebhooks } from './validating-webhooks.js'

/** What hooks are called with. */
export interface WebhookSources {
  readonly clients: HookClients
  readonly tallies: HookTallies
  readonly credentials: { readonly mutating: FindCredentials; readonly validating: FindCredentials }
  readonly newUid: () => string
  readonly record?: RecordReview | undefined
  /** False as long as the server only writes what it needs itself. */
  readonly isServing: () => boolean
}

export interface HookObjects {
  readonly store: ObjectStore
  readonly catalogs: Pick<CatalogSource, 'current'>
}

/** None of a kind whose configurations are not served. */
export function webhookPlugins({ store, catalogs }: HookObjects, sources: WebhookSources): readonly Plugin[] {
  const { current } = catalogs
  const namespaces = current.find('', 'v1', 'namespaces')
  if (namespaces === undefined) return []
  const lookup = lookupOf({ store, catalogs })
  const { clients, tallies, newUid, isServing, record } = sources
  const read = (resource: string) => (namespace: string, name: string) =>
    lookup.read({ group: '', version: 'v1', resource }, { namespace, name })
  const services = { readService: read('services'), readEndpoints: read('endpoints') }
  const partsFor = (configurations: Resource, credentials: FindCredentials, mayPatch: boolean): WebhookParts => ({
    find: hookList({ store, configurations, catalogs }),
    source: { store, catalogs, namespaces },
    call: { clients, credentials, services, newUid, record, mayPatch },
    tallies,
    isServing,
  })
  const group = current.identity.group({ stem: 'admissionregistration' })
  const mutating = current.find(group, 'v1', 'mutatingwebhookconfigurations')
  const validating = current.find(group, 'v1', 'validatingwebhookconfigurations')
  return [
    ...(mutating === undefined ? [] : [mutatingWebhooks(partsFor(mutating, sources.credentials.mutating, true))]),
    ...(validating === undefined ? [] : [validatingWebhooks(partsFor(validating, sources.credentials.validating, false))]),
  ]
}
