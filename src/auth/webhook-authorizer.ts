// A service of somebody else that is asked whether somebody may. What it said counts for a while; while it cannot be asked, nobody is allowed
// anything by it.

import { hash } from 'node:crypto'
import { tooManyRequests } from '../api/api-error.js'
import type { Identity } from '../api/identity.js'
import type { Clock } from '../base/clock.js'
import { RecentMap } from '../base/recent-map.js'
import { shorten } from '../base/shorten.js'
import { type SubjectAccessReviewStatus, subjectAccessReview } from '../resources/authorization/v1.schema.js'
import { type AskedWebhook, askWebhook } from './ask-webhook.js'
import type { AccessAttributes, AccessRequest, Authorizer, Decision } from './authorize.js'

export interface WebhookAccess extends AskedWebhook {
  readonly identity: Identity
  readonly version: 'v1' | 'v1beta1'
  /** How long a yes counts, and how long anything else. */
  readonly acceptedTtlMs: number
  readonly refusedTtlMs: number
  readonly clock: Clock
}

interface Kept {
  readonly decision: Decision
  readonly untilMs: number
}

const mostKept = 8192
/** How many may wait for an answer: whoever wants to act as somebody else asks before there is any other bound. */
const mostWaiting = 4000
/** Of what it says to people. */
const mostReason = 4096
/** What somebody asks for in more letters is not kept. */
const mostLetters = 10_000

export function webhookAuthorizer(access: WebhookAccess): Authorizer {
  const kept = new RecentMap<string, Kept>(mostKept)
  /** Those who ask the same at the same time wait for one answer. */
  const pending = new Map<string, Promise<Decision>>()
  let waiting = 0
  const waitFor = (answer: Promise<Decision>): Promise<Decision> => {
    waiting++
    return answer.finally(() => {
      waiting--
    })
  }
  return {
    name: 'Webhook',
    authorize: (request) => {
      const spec = specOf(request, access.version)
      const key = hash('sha256', JSON.stringify(spec), 'base64')
      const known = kept.get(key)
      if (known !== undefined && known.untilMs > access.clock.now()) return known.decision
      if (waiting >= mostWaiting) throw tooManyRequests('too many requests wait to be authorized, please try again later', 1)
      const asked = pending.get(key)
      if (asked !== undefined) return waitFor(asked)
      const asking = ask(access, spec)
        .then((decision) => {
          const ttlMs = decision.verdict === 'allow' ? access.acceptedTtlMs : access.refusedTtlMs
          if (lettersOf(request.info) < mostLetters) kept.set(key, { decision, untilMs: access.clock.now() + ttlMs })
          return decision
        })
        .catch((thrown: unknown): Decision => ({ verdict: 'no-opinion', reason: '', error: messageOf(thrown) }))
        .finally(() => pending.delete(key))
      pending.set(key, asking)
      return waitFor(asking)
    },
  }
}

const lettersOf = ({ namespace, verb, group, version, resource, subresource, name, path }: AccessAttributes): number =>
  namespace.length + verb.length + group.length + version.length + resource.length + subresource.length + name.length + path.length

const messageOf = (thrown: unknown): string =>
  `the authorization webhook could not be asked: ${thrown instanceof Error ? thrown.message : String(thrown)}`

/** What is sent; what is empty is left out. */
function specOf({ user, info }: AccessRequest, version: WebhookAccess['version']): object {
  const { namespace, verb, group, version: of, resource, subresource, name } = info
  return {
    ...(info.isResource
      ? { resourceAttributes: filled({ namespace, verb, group, version: of, resource, subresource, name }) }
      : { nonResourceAttributes: filled({ path: info.path, verb }) }),
    ...filled({ user: user.name }),
    ...(user.groups.length === 0 ? {} : { [version === 'v1' ? 'groups' : 'group']: user.groups }),
    ...(Object.keys(user.extra).length === 0 ? {} : { extra: user.extra }),
    ...filled({ uid: user.uid }),
  }
}

const filled = (fields: { readonly [name: string]: string }): { readonly [name: string]: string } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))

async function ask(access: WebhookAccess, spec: object): Promise<Decision> {
  const apiVersion = `${access.identity.group({ stem: 'authorization' })}/${access.version}`
  const review = { kind: 'SubjectAccessReview', apiVersion, metadata: { creationTimestamp: null }, spec, status: { allowed: false } }
  const { allowed, denied, reason = '' } = await askWebhook<SubjectAccessReviewStatus>(access, review, subjectAccessReview)
  const why = shorten(reason, mostReason)
  if (denied && allowed)
    return { verdict: 'deny', reason: why, error: 'webhook subject access review returned both allow and deny response' }
  return { verdict: denied ? 'deny' : allowed ? 'allow' : 'no-opinion', reason: why }
}
