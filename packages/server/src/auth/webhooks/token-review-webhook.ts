// Webhook token authentication: posts TokenReviews and caches results, which alone apply while the webhook is unreachable.

import { hash } from 'node:crypto'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { User } from '@cluster-apiserver/api/api/user.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { RecentMap } from '@cluster-apiserver/api/base/recent-map.js'
import { type TokenReviewStatus, tokenReview, type UserInfo } from '@cluster-apiserver/api/resources/authentication/v1.schema.js'
import { intersect, type PresentedToken, type TokenAuthenticator, type TokenResult } from '../tokens/bearer-tokens.js'
import { withAuthenticated } from '../tokens/static-tokens.js'
import { postReview, type ReviewEndpoint } from './post-review.js'

export interface WebhookTokenOptions extends ReviewEndpoint {
  readonly identity: Identity
  readonly version: 'v1' | 'v1beta1'
  /** Cache time of authenticated and of rejected tokens. */
  readonly acceptedTtlMs: number
  readonly refusedTtlMs: number
  readonly audiences: readonly string[]
}

const maxCachedRefusals = 8192
/** Maximum number of groups, and of extra values; authorization checks all of them with every request. */
const maxUserValues = 10_000

export function webhookTokens(options: WebhookTokenOptions): TokenAuthenticator {
  const { acceptedTtlMs, refusedTtlMs } = options
  const refusedUntilMs = new RecentMap<string, number>(maxCachedRefusals)
  return async (token) => {
    // Hashed, because a review may name megabytes of audiences.
    const key = hash('sha256', `${token.digest} ${JSON.stringify(token.audiences)}`, 'base64')
    if ((refusedUntilMs.get(key) ?? 0) > token.now) return undefined
    token.beforeRemoteCheck?.()
    const result = await reviewToken(options, token)
    if (result === undefined) refusedUntilMs.set(key, token.now + refusedTtlMs)
    return result?.user === undefined ? result : { ...result, isValid: (now) => now < token.now + acceptedTtlMs }
  }
}

async function reviewToken(options: WebhookTokenOptions, token: PresentedToken): Promise<TokenResult> {
  const { identity, version, audiences: serverAudiences } = options
  const review = {
    kind: 'TokenReview',
    apiVersion: `${identity.group({ stem: 'authentication' })}/${version}`,
    metadata: { creationTimestamp: null },
    spec: { token: Buffer.from(token.text, 'latin1').toString('utf8'), audiences: token.audiences },
    status: { user: {} },
  }
  try {
    const { authenticated, error = '', audiences = [], user = {} } = await postReview<TokenReviewStatus>(options, review, tokenReview)
    const validAudiences = intersect(audiences.length === 0 ? serverAudiences : audiences, token.audiences)
    if (validAudiences.length === 0 && token.audiences.length > 0) return undefined
    if (!authenticated) return error === '' ? undefined : { problems: [error] }
    return { user: userOf(user), audiences: validAudiences }
  } catch (thrown) {
    return { problems: [`the token webhook failed: ${errorMessage(thrown)}`] }
  }
}

function userOf({ username = '', uid = '', groups = [], extra = {} }: UserInfo): User {
  if (username === '') throw new Error('the response names no user')
  const values = Object.values(extra).reduce((sum, each) => sum + 1 + each.length, 0)
  if (Math.max(groups.length, values) > maxUserValues)
    throw new Error(`the response names more than ${maxUserValues} groups or extra values`)
  return { name: username, uid, groups: withAuthenticated(groups), extra }
}
