// Webhooks of the stored configurations, with selectors compiled and defaults set.

import type { CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { fromSelectorObject } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import type { Criteria } from '@cluster-apiserver/api/resources/admissionregistration/policy/match-rules.js'
import type {
  MutatingWebhook,
  MutatingWebhookConfiguration,
  WebhookClientConfig,
} from '@cluster-apiserver/api/resources/admissionregistration/v1.schema.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { AdmissionRequest } from '../admission-plugin.js'
import { cachePerScope, matchRules } from '../matching/match-request.js'
import type { MatchedKind } from '../matching/versioned-object.js'
import { namespaceObjectCache } from '../namespace-object-cache.js'

export type ReviewVersion = 'v1' | 'v1beta1'

export interface Webhook {
  readonly id: string
  readonly configuration: string
  readonly name: string
  readonly index: number
  readonly criteria: Criteria
  /** Undefined if the webhook supports no version that this server knows. */
  readonly reviewVersion: ReviewVersion | undefined
  readonly timeoutMs: number
  readonly shouldFailOpen: boolean
  /** True if sideEffects is None or NoneOnDryRun. */
  readonly supportsDryRun: boolean
  /** reinvocationPolicy IfNeeded: called again if other plugins change the object later. */
  readonly shouldReinvoke: boolean
  readonly client: WebhookClientConfig
}

const defaultTimeoutSeconds = 10
const dryRunSideEffects = ['None', 'NoneOnDryRun']
const supportedVersions: readonly string[] = ['v1', 'v1beta1'] satisfies readonly ReviewVersion[]

export const webhooksIn = (configurations: readonly ApiObject[]): readonly Webhook[] =>
  configurations
    .flatMap(({ metadata, webhooks = [] }: MutatingWebhookConfiguration) => {
      const configuration = metadata?.name ?? ''
      const countByName = new Map<string, number>()
      return webhooks.map((webhook) => {
        const repetition = countByName.get(webhook.name ?? '') ?? 0
        countByName.set(webhook.name ?? '', repetition + 1)
        return { webhook, configuration, id: `${configuration}/${webhook.name}/${repetition}` }
      })
    })
    .map(({ webhook, ...origin }, index) => ({ ...origin, index, ...webhookOf(webhook) }))

const webhookOf = (webhook: MutatingWebhook): Omit<Webhook, 'id' | 'configuration' | 'index'> => ({
  name: webhook.name ?? '',
  criteria: {
    rules: webhook.rules ?? [],
    isEquivalent: webhook.matchPolicy === 'Equivalent',
    namespaces: fromSelectorObject(webhook.namespaceSelector ?? {}),
    objects: fromSelectorObject(webhook.objectSelector ?? {}),
  },
  reviewVersion: webhook.admissionReviewVersions?.find((version) => supportedVersions.includes(version)) as ReviewVersion | undefined,
  timeoutMs: (webhook.timeoutSeconds ?? defaultTimeoutSeconds) * 1000,
  shouldFailOpen: webhook.failurePolicy === 'Ignore',
  supportsDryRun: dryRunSideEffects.includes(webhook.sideEffects ?? ''),
  shouldReinvoke: webhook.reinvocationPolicy === 'IfNeeded',
  client: webhook.clientConfig ?? {},
})

/** Webhook whose rules match a request; selectors are not checked yet. */
export interface Candidate {
  readonly webhook: Webhook
  readonly matched: MatchedKind
}

export type FindCandidates = (request: AdmissionRequest) => readonly Candidate[]

interface WebhookListParts {
  readonly store: ObjectStore
  readonly configurations: Resource
  readonly catalogs: Pick<CatalogSource, 'current'>
}

const noCandidates: readonly Candidate[] = []

export function webhookList({ store, configurations, catalogs }: WebhookListParts): FindCandidates {
  const configurationsIn = namespaceObjectCache(store, configurations)
  let source: ReturnType<typeof configurationsIn> | undefined
  let webhooks: readonly Webhook[] = []
  const find = cachePerScope(catalogs, (all: readonly Webhook[], request) =>
    all.flatMap((webhook) => {
      const matched = matchRules(webhook.criteria.rules ?? [], webhook.criteria, request, { catalogs })
      return matched === undefined ? [] : [{ webhook, matched }]
    }),
  )
  return (request) => {
    const current = configurationsIn('')
    if (current.length === 0) return noCandidates
    if (current !== source) {
      webhooks = webhooksIn(current.map(({ object }) => object))
      source = current
    }
    return find(webhooks, request)
  }
}
