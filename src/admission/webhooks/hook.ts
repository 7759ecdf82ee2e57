// One webhook of a configuration, as requests need it: its selectors compiled, what it left out filled in.

import { fromSelectorObject } from '../../api/label-selector.js'
import type { ApiObject } from '../../api/object.js'
import type { MutatingWebhook, MutatingWebhookConfiguration, WebhookClientConfig } from '../../resources/admissionregistration/v1.schema.js'
import type { Criteria } from '../matching/match.js'

export type ReviewVersion = 'v1' | 'v1beta1'

export interface Hook {
  /** The same as long as nobody moves it within its configuration. */
  readonly id: string
  readonly configuration: string
  readonly name: string
  /** Its place among all hooks. */
  readonly index: number
  readonly criteria: Criteria
  /** Undefined where it understands none that this server speaks. */
  readonly review: ReviewVersion | undefined
  readonly timeoutMs: number
  /** Whether the request goes on where it cannot be asked. */
  readonly failsOpen: boolean
  /** Whether it does nothing but answer when asked by a dry run. */
  readonly allowsDryRun: boolean
  /** Whether it wants to be asked again when others have changed the object since. */
  readonly isReinvoked: boolean
  readonly client: WebhookClientConfig
}

const usualTimeoutSeconds = 10
const harmless = ['None', 'NoneOnDryRun']
const known: readonly string[] = ['v1', 'v1beta1'] satisfies readonly ReviewVersion[]

/** In the order of the names of configurations, which is that in which they are handed in. */
export const hooksOf = (configurations: readonly ApiObject[]): readonly Hook[] =>
  configurations
    .flatMap(({ metadata, webhooks = [] }: MutatingWebhookConfiguration) => {
      const configuration = metadata?.name ?? ''
      const seen = new Map<string, number>()
      return webhooks.map((webhook) => {
        const nth = seen.get(webhook.name ?? '') ?? 0
        seen.set(webhook.name ?? '', nth + 1)
        return { webhook, configuration, id: `${configuration}/${webhook.name}/${nth}` }
      })
    })
    .map(({ webhook, ...place }, index) => ({ ...place, index, ...hookOf(webhook) }))

const hookOf = (webhook: MutatingWebhook): Omit<Hook, 'id' | 'configuration' | 'index'> => ({
  name: webhook.name ?? '',
  criteria: {
    rules: webhook.rules ?? [],
    isEquivalent: webhook.matchPolicy === 'Equivalent',
    namespaces: fromSelectorObject(webhook.namespaceSelector ?? {}),
    objects: fromSelectorObject(webhook.objectSelector ?? {}),
  },
  review: webhook.admissionReviewVersions?.find((version) => known.includes(version)) as ReviewVersion | undefined,
  timeoutMs: (webhook.timeoutSeconds ?? usualTimeoutSeconds) * 1000,
  failsOpen: webhook.failurePolicy === 'Ignore',
  allowsDryRun: harmless.includes(webhook.sideEffects ?? ''),
  isReinvoked: webhook.reinvocationPolicy === 'IfNeeded',
  client: webhook.clientConfig ?? {},
})
