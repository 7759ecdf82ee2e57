// Webhook authorizer: posts SubjectAccessReviews and caches decisions. While the webhook is unreachable, only cached decisions apply.

import { hash } from 'node:crypto'
import { tooManyRequests } from '@cluster-apiserver/api/api/api-error.js'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { Clock } from '@cluster-apiserver/api/base/clock.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { getOrInsert, RecentMap } from '@cluster-apiserver/api/base/recent-map.js'
import { shorten } from '@cluster-apiserver/api/base/shorten.js'
import { type SubjectAccessReviewStatus, subjectAccessReview } from '@cluster-apiserver/api/resources/authorization/v1.schema.js'
import type { AccessAttributes, AccessRequest, Authorizer, Decision } from '../authorize.js'
import { postReview, type ReviewEndpoint } from './post-review.js'

export interface WebhookAuthorizerOptions extends ReviewEndpoint {
  readonly identity: Identity
  readonly version: 'v1' | 'v1beta1'
  /** Cache time of `allowed` decisions, and of all others. */
  readonly acceptedTtlMs: number
  readonly refusedTtlMs: number
  readonly clock: Clock
}

interface CachedDecision {
  readonly decision: Decision
  readonly expiresAtMs: number
}

const maxCachedDecisions = 8192
/** Limit of requests that wait for the webhook: impersonation is authorized before flow control applies. */
const maxWaitingRequests = 4000
const maxReasonChars = 4096
const maxCachedRequestChars = 10_000

export function webhookAuthorizer(options: WebhookAuthorizerOptions): Authorizer {
  const cache = new RecentMap<string, CachedDecision>(maxCachedDecisions)
  const pending = new Map<string, Promise<Decision>>()
  let waitingRequests = 0
  const reviewAndCache = async (request: AccessRequest, spec: object, key: string): Promise<Decision> => {
    try {
      const decision = await reviewAccess(options, spec)
      const ttlMs = decision.verdict === 'allow' ? options.acceptedTtlMs : options.refusedTtlMs
      if (charsOf(request.info) < maxCachedRequestChars) cache.set(key, { decision, expiresAtMs: options.clock.now() + ttlMs })
      return decision
    } catch (thrown) {
      return { verdict: 'no-opinion', reason: '', error: messageOf(thrown) }
    } finally {
      pending.delete(key)
    }
  }
  return {
    name: 'Webhook',
    authorize: async (request) => {
      const spec = specOf(request, options.version)
      const key = hash('sha256', JSON.stringify(spec), 'base64')
      const cached = cache.get(key)
      if (cached !== undefined && cached.expiresAtMs > options.clock.now()) return cached.decision
      if (waitingRequests >= maxWaitingRequests) throw tooManyRequests('too many requests wait to be authorized, please try again later', 1)
      waitingRequests++
      try {
        return await getOrInsert(pending, key, () => reviewAndCache(request, spec, key))
      } finally {
        waitingRequests--
      }
    },
  }
}

const charsOf = ({ namespace, verb, group, version, resource, subresource, name, path }: AccessAttributes): number =>
  namespace.length + verb.length + group.length + version.length + resource.length + subresource.length + name.length + path.length

const messageOf = (thrown: unknown): string => `the authorization webhook failed: ${errorMessage(thrown)}`

function specOf({ user, info }: AccessRequest, version: WebhookAuthorizerOptions['version']): object {
  const { namespace, verb, group, version: apiVersion, resource, subresource, name } = info
  return {
    ...(info.isResource
      ? { resourceAttributes: withoutEmpty({ namespace, verb, group, version: apiVersion, resource, subresource, name }) }
      : { nonResourceAttributes: withoutEmpty({ path: info.path, verb }) }),
    ...withoutEmpty({ user: user.name }),
    ...(user.groups.length === 0 ? {} : { [version === 'v1' ? 'groups' : 'group']: user.groups }),
    ...(Object.keys(user.extra).length === 0 ? {} : { extra: user.extra }),
    ...withoutEmpty({ uid: user.uid }),
  }
}

const withoutEmpty = (fields: { readonly [name: string]: string }): { readonly [name: string]: string } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))

async function reviewAccess(options: WebhookAuthorizerOptions, spec: object): Promise<Decision> {
  const apiVersion = `${options.identity.group({ stem: 'authorization' })}/${options.version}`
  const review = { kind: 'SubjectAccessReview', apiVersion, metadata: { creationTimestamp: null }, spec, status: { allowed: false } }
  const { allowed, denied, reason = '' } = await postReview<SubjectAccessReviewStatus>(options, review, subjectAccessReview)
  const shortReason = shorten(reason, maxReasonChars)
  if (denied && allowed)
    return { verdict: 'deny', reason: shortReason, error: 'webhook subject access review returned both allow and deny response' }
  return { verdict: denied ? 'deny' : allowed ? 'allow' : 'no-opinion', reason: shortReason }
}
