// ValidatingAdmissionWebhook plugin, and the setup that it shares with MutatingAdmissionWebhook.

import type { CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { AdmissionRequest, Plugin } from '../admission-plugin.js'
import { lookupOf } from '../lookup.js'
import { isExempt, matchesSelectors } from '../matching/match-request.js'
import type { RecordReview } from './admission-review-recorder.js'
import { callWebhook, withFailurePolicy } from './call-webhook.js'
import { mutatingWebhooks, type WebhookParts } from './mutating-webhooks.js'
import { type Candidate, webhookList } from './webhook.js'
import type { FindCredentials, WebhookClients } from './webhook-clients.js'
import type { WebhookCounters } from './webhook-counters.js'

export interface WebhookSources {
  readonly clients: WebhookClients
  readonly counters: WebhookCounters
  readonly credentials: { readonly mutating: FindCredentials; readonly validating: FindCredentials }
  readonly newUid: () => string
  readonly record?: RecordReview | undefined
  readonly isServing: () => boolean
}

interface WebhookStore {
  readonly store: ObjectStore
  readonly catalogs: Pick<CatalogSource, 'current'>
}

export function webhookPlugins({ store, catalogs }: WebhookStore, sources: WebhookSources): readonly Plugin[] {
  const { current } = catalogs
  const namespaces = current.find('', 'v1', 'namespaces')
  if (namespaces === undefined) return []
  const lookup = lookupOf({ store, catalogs })
  const { clients, counters, newUid, isServing, record } = sources
  const readObject = (resource: string) => (namespace: string, name: string) =>
    lookup.read({ group: '', version: 'v1', resource }, { namespace, name })
  const services = { readService: readObject('services'), readEndpoints: readObject('endpoints') }
  const partsFor = (configurations: Resource, credentials: FindCredentials, mayPatch: boolean): WebhookParts => ({
    find: webhookList({ store, configurations, catalogs }),
    source: { store, catalogs, namespaces },
    call: { clients, credentials, services, newUid, record, mayPatch },
    counters,
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

function validatingWebhooks(parts: WebhookParts): Plugin {
  return {
    name: 'ValidatingAdmissionWebhook',
    validate: async (request) => {
      const candidates = parts.find(request)
      if (candidates.length === 0 || !parts.isServing() || isExempt(request)) return
      const relevant = candidates.filter(({ webhook }) => matchesSelectors(webhook.criteria, request, parts.source))
      if (relevant.length > 0) await validateByAll(relevant, request, parts)
    },
  }
}

/** Waits for all webhooks: their audit annotations and warnings count even if one of them denies the request. */
async function validateByAll(relevant: readonly Candidate[], request: AdmissionRequest, parts: WebhookParts): Promise<void> {
  const [single] = relevant
  if (single !== undefined && relevant.length === 1) return validateByOne(single, 0, request, parts)
  const refusals: unknown[] = []
  await Promise.all(
    relevant.map((candidate, i) =>
      validateByOne(candidate, i, request, parts).catch((thrown: unknown) => {
        refusals.push(thrown)
      }),
    ),
  )
  if (refusals.length > 0) throw refusals[0]
}

async function validateByOne(candidate: Candidate, index: number, request: AdmissionRequest, parts: WebhookParts): Promise<void> {
  const { webhook } = candidate
  const failedOpen = (): void => {
    const group = request.identity.group({ stem: 'admission' })
    request.annotate(`failed-open.validating.webhook.${group}/round_0_index_${index}`, webhook.name)
  }
  await withFailurePolicy(webhook, request, { counters: parts.counters, step: 'validating', failedOpen }, () =>
    callWebhook(candidate, request, parts.call),
  )
}
