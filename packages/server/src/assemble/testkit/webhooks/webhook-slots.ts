// The authenticator, authorizer and admission plugin that call token, authorization and image policy webhooks of tests. Each decides nothing
// while there is no such webhook.

import { setTimeout } from 'node:timers/promises'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { steadyClock } from '@cluster-apiserver/api/base/clock.js'
import type { Plugin } from '../../../admission/admission-plugin.js'
import { imagePolicyWebhook } from '../../../admission/plugins/image-policy-webhook.js'
import { type Authorizer, noOpinion, noRules, unknownRules } from '../../../auth/authorize.js'
import type { TokenAuthenticator } from '../../../auth/tokens/bearer-tokens.js'
import { webhookTokens } from '../../../auth/webhooks/token-review-webhook.js'
import { webhookAuthorizer } from '../../../auth/webhooks/webhook-authorizer.js'
import { type EndpointResponse, JsonEndpoint } from '../../../net/outbound/json-endpoint.js'
import type { RefuseWebhook } from '../../../net/outbound/webhook-dial.js'
import type { ListenerAddress } from './webhook-listener.js'
import type { WebhookSpec } from './webhook-spec.js'

type SlotKind = 'token' | 'authorization' | 'imagePolicy'

/** Delay before a failed call is repeated. The number of calls is the same as without a test kit. */
const retryMs = 1
/** Nothing is cached, not even within a millisecond: every request is reviewed. */
const ttls = { acceptedTtlMs: Number.NEGATIVE_INFINITY, refusedTtlMs: Number.NEGATIVE_INFINITY }
const defaultTimeoutSeconds = 30

interface OpenEndpoint {
  readonly url: string
  readonly endpoint: JsonEndpoint
}

export class WebhookSlots {
  readonly #endpoints = new Map<SlotKind, OpenEndpoint>()
  readonly #refuse: RefuseWebhook

  /** `refuse`: called with the kind and the URL before each call. */
  constructor(refuse: RefuseWebhook) {
    this.#refuse = refuse
  }

  /** Returns the function that removes the webhook. Throws if there is another of its kind. */
  add(
    { kind, timeoutSeconds = defaultTimeoutSeconds }: WebhookSpec<SlotKind>,
    { origin, caPem }: ListenerAddress,
    path: string,
  ): () => void {
    if (this.#endpoints.has(kind)) throw new Error(`webhook: the server already has a webhook of kind ${kind}; close it first`)
    const url = `${origin}${path}`
    const endpoint = new JsonEndpoint({ url, ca: caPem }, { timeoutMs: timeoutSeconds * 1000 })
    this.#endpoints.set(kind, { url, endpoint })
    return () => {
      if (this.#endpoints.get(kind)?.endpoint === endpoint) this.#endpoints.delete(kind)
      endpoint.close()
    }
  }

  tokenAuthenticator(server: { readonly identity: Identity; readonly audiences: readonly string[] }): TokenAuthenticator {
    const authenticate = webhookTokens({ ...server, version: 'v1', ...ttls, ...this.#reviewEndpoint('token') })
    return async (token) => (this.#endpoints.has('token') ? authenticate(token) : undefined)
  }

  authorizer(identity: Identity): Authorizer {
    const webhook = webhookAuthorizer({ identity, version: 'v1', clock: steadyClock, ...ttls, ...this.#reviewEndpoint('authorization') })
    const isActive = (): boolean => this.#endpoints.has('authorization')
    return {
      name: webhook.name,
      authorize: async (request) => (isActive() ? webhook.authorize(request) : noOpinion),
      rulesFor: async () => (isActive() ? unknownRules(webhook) : noRules),
    }
  }

  imagePolicy(): Plugin {
    const plugin = imagePolicyWebhook({
      settings: { allowTtlMs: 0, denyTtlMs: 0, retryBackoffMs: retryMs, defaultAllow: false },
      post: async (text, onAbort) => this.#endpointOf('imagePolicy').post(text, { onAbort }),
      now: () => performance.now(),
    })
    return { ...plugin, validate: async (request) => (this.#endpoints.has('imagePolicy') ? plugin.validate?.(request) : undefined) }
  }

  #reviewEndpoint(kind: SlotKind) {
    return {
      post: async (document: unknown): Promise<EndpointResponse> => this.#endpointOf(kind).post(document),
      sleep: (ms: number): Promise<unknown> => setTimeout(Math.min(ms, retryMs), undefined, { ref: false }),
    }
  }

  #endpointOf(kind: SlotKind): JsonEndpoint {
    const open = this.#endpoints.get(kind)
    if (open === undefined) throw new Error('the webhook is closed')
    this.#refuse(kind, open.url)
    return open.endpoint
  }
}
