// Tokens that somebody else's service knows. What it said counts for a while, whether it was yes or no; while it cannot be asked, nobody is known by it.

import { hash } from 'node:crypto'
import type { Identity } from '../api/identity.js'
import type { User } from '../api/user.js'
import { RecentMap } from '../base/recent-map.js'
import { type TokenReviewStatus, tokenReview, type UserInfo } from '../resources/authentication/v1.schema.js'
import { type AskedWebhook, askWebhook } from './ask-webhook.js'
import { inBoth, type PresentedToken, type TokenAuthenticator, type TokenResult } from './bearer-tokens.js'
import { withAuthenticated } from './token-list.js'

export interface WebhookTokenOptions extends AskedWebhook {
  readonly identity: Identity
  readonly version: 'v1' | 'v1beta1'
  /** How long a yes counts, and how long a no. */
  readonly acceptedTtlMs: number
  readonly refusedTtlMs: number
  /** By which names this server is meant. */
  readonly audiences: readonly string[]
}

const mostRefused = 8192
/** Groups of a user, and extra values, which are gone through with every request. */
const mostParts = 10_000

export function webhookTokens(options: WebhookTokenOptions): TokenAuthenticator {
  const { acceptedTtlMs, refusedTtlMs } = options
  /** Until when tokens count as refused. */
  const refused = new RecentMap<string, number>(mostRefused)
  return (token) => {
    // A review may name megabytes of audiences.
    const key = hash('sha256', `${token.digest} ${JSON.stringify(token.audiences)}`, 'base64')
    if ((refused.get(key) ?? 0) > token.now) return undefined
    token.beforeAsking?.()
    return ask(options, token).then((result) => {
      if (result === undefined) refused.set(key, token.now + refusedTtlMs)
      return result?.user === undefined ? result : { ...result, holds: (now) => now < token.now + acceptedTtlMs }
    })
  }
}

async function ask(options: WebhookTokenOptions, token: PresentedToken): Promise<TokenResult> {
  const { identity, version, audiences: own } = options
  const review = {
    kind: 'TokenReview',
    apiVersion: `${identity.group({ stem: 'authentication' })}/${version}`,
    metadata: { creationTimestamp: null },
    spec: { token: token.text, audiences: token.audiences },
    status: { user: {} },
  }
  try {
    const { authenticated, error = '', audiences = [], user = {} } = await askWebhook<TokenReviewStatus>(options, review, tokenReview)
    const meant = inBoth(audiences.length === 0 ? own : audiences, token.audiences)
    if (meant.length === 0 && token.audiences.length > 0) return undefined
    if (!authenticated) return error === '' ? undefined : { problems: [error] }
    return { user: userOf(user), audiences: meant }
  } catch (thrown) {
    // What is wrong passes, and so it is not remembered.
    return { problems: [`the token webhook could not be asked: ${thrown instanceof Error ? thrown.message : String(thrown)}`] }
  }
}

function userOf({ username = '', uid = '', groups = [], extra = {} }: UserInfo): User {
  if (username === '') throw new Error('its answer names no user')
  const values = Object.values(extra).reduce((sum, each) => sum + 1 + each.length, 0)
  if (Math.max(groups.length, values) > mostParts) throw new Error(`its answer names more than ${mostParts} groups or extra values`)
  return { name: username, uid, groups: withAuthenticated(groups), extra }
}
