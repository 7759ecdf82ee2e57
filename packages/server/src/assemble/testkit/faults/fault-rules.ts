// The fault rules of one server, in order: which of them fires for a request, a webhook call or a commit.

import { hostOf, portOf } from '../../../net/outbound/open-socket.js'
import type { RefuseWebhook } from '../../../net/outbound/webhook-dial.js'
import { type FaultAction, type FaultMatch, type FaultRule, type ParsedRule, parseFaultRule, type ResourcePattern } from './fault-rule.js'
import { type Firing, MatchCounter } from './match-counter.js'

/** A rule that was added, and how often it matched and fired. */
export interface Fault {
  readonly id: string
  readonly rule: FaultRule
  readonly matched: number
  readonly fired: number
  remove(): void
}

/** Faults on command. */
export interface Faults {
  /** Throws a TypeError that names the wrong member of the rule. */
  add(rule: FaultRule): Fault
  list(): readonly Fault[]
  /** Removes all rules. */
  clear(): void
  /** Throws an error that lists the rules that never fired. */
  check(): void
}

const maxRules = 1_000
/** Maximum number of tokens that one rule keeps expired; the oldest becomes valid again. */
const maxExpiredTokens = 10_000

type RequestAction = Exclude<FaultAction, { readonly kind: 'latency' | 'webhook' | 'disk' }>

/** A chosen fault of a request. */
export interface ChosenFault {
  readonly action: RequestAction
  readonly firing: Firing
  /** Expires the token with this digest; only for `expireToken`. */
  expireToken(digest: string): void
}

export interface Decision {
  readonly latencies: readonly { readonly ms: number; readonly firing: Firing }[]
  readonly fault: ChosenFault | undefined
}

interface ActiveRule extends ParsedRule {
  readonly counter: MatchCounter
  readonly fault: Fault
  /** Digests of tokens. */
  readonly expired: Set<string>
}

export interface TokenRequest extends FaultRequest {
  /** Owner of the bearer token, who may impersonate `user`; undefined without a token. */
  readonly tokenUser: string | undefined
}

export class FaultRules implements Faults {
  readonly #rules = new Map<string, ActiveRule>()
  #nextId = 1
  /** Number of rules that match requests by name of the object. */
  #rulesWithNames = 0

  add(rule: FaultRule): Fault {
    const parsed = parseFaultRule(rule)
    if (this.#rules.size >= maxRules) throw new RangeError(`faults: there are ${maxRules} rules, which is the maximum; remove some`)
    const id = String(this.#nextId++)
    const counter = new MatchCounter(parsed.choice)
    const fault: Fault = {
      id,
      rule: parsed.rule,
      get matched() {
        return counter.matched
      },
      get fired() {
        return counter.fired
      },
      remove: () => this.#remove(id),
    }
    this.#rules.set(id, { ...parsed, counter, fault, expired: new Set() })
    if (matchesNames(parsed)) this.#rulesWithNames++
    return fault
  }

  list(): readonly Fault[] {
    return Array.from(this.#rules.values(), ({ fault }) => fault)
  }

  clear(): void {
    this.#rules.clear()
    this.#rulesWithNames = 0
  }

  check(): void {
    const all = this.list()
    const unfired = all.filter(({ fired }) => fired === 0)
    if (unfired.length === 0) return
    const lines = unfired.map(({ id, rule, matched }) => `  fault ${id} ${JSON.stringify(rule)}: ${timesText(matched)}`)
    throw new Error(`faults: ${unfired.length} of ${all.length} never fired:\n${lines.join('\n')}`)
  }

  get isEmpty(): boolean {
    return this.#rules.size === 0
  }

  /** True if a rule depends on the name of an object, which the path of a create request does not have. */
  get needsNames(): boolean {
    return this.#rulesWithNames > 0
  }

  /** Adds up the latencies of rules that fire, in order, until a rule with another action fires. */
  decide(request: TokenRequest): Decision {
    const latencies: { readonly ms: number; readonly firing: Firing }[] = []
    for (const rule of this.#rules.values()) {
      const { action, counter } = rule
      if (action.kind === 'webhook' || action.kind === 'disk' || !isMatch(rule, request)) continue
      const firing = counter.match()
      if (firing === undefined) continue
      if (action.kind === 'latency') latencies.push({ ms: action.ms, firing })
      else return { latencies, fault: { action, firing, expireToken: (digest) => addBounded(rule.expired, digest) } }
    }
    return { latencies, fault: undefined }
  }

  get hasExpiredTokens(): boolean {
    for (const { expired } of this.#rules.values()) if (expired.size > 0) return true
    return false
  }

  /** True if a rule has expired the token; counts it for the first such rule. */
  refusesToken(digest: string): boolean {
    for (const { expired, counter } of this.#rules.values()) {
      if (!expired.has(digest)) continue
      counter.fireAgain()
      return true
    }
    return false
  }

  refusesWebhook(name: string): boolean {
    return this.#fires('webhook', ({ names }) => names === undefined || names.has(name))
  }

  refusesCommit(): boolean {
    return this.#fires('disk', () => true)
  }

  #fires(kind: FaultAction['kind'], matches: (match: ParsedRule['match']) => boolean): boolean {
    for (const { action, match, counter } of this.#rules.values()) {
      const firing = action.kind === kind && matches(match) ? counter.match() : undefined
      firing?.fire()
      if (firing !== undefined) return true
    }
    return false
  }

  #remove(id: string): void {
    const rule = this.#rules.get(id)
    if (rule === undefined) return
    this.#rules.delete(id)
    if (matchesNames(rule)) this.#rulesWithNames--
  }
}

const matchesNames = ({ match, action }: ParsedRule): boolean => match.names !== undefined && action.kind !== 'webhook'

function isMatch({ action, match }: ActiveRule, request: TokenRequest): boolean {
  if (action.kind === 'watch' && request.verb !== 'watch') return false
  if (action.kind !== 'expireToken') return matchesRequest(match, request)
  // The token of an administrator who impersonates the user does not expire.
  return request.tokenUser !== undefined && matchesRequest(match, { ...request, user: request.tokenUser })
}

function addBounded(digests: Set<string>, digest: string): void {
  const [first] = digests
  if (digests.size >= maxExpiredTokens && first !== undefined) digests.delete(first)
  digests.add(digest)
}

const timesText = (matched: number): string =>
  matched === 0 ? 'nothing matched' : `matched ${matched === 1 ? 'once' : `${matched} times`}`

/** The attributes of a request that fault rules match. */
interface FaultRequest {
  readonly isResource: boolean
  readonly verb: string
  /** True for requests to kubelets, pods and services, such as exec and proxy, whatever the verb. */
  readonly isConnect: boolean
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  readonly user: string
}

function matchesRequest(match: FaultMatch, request: FaultRequest): boolean {
  const { verbs, resources, namespaces, names, users } = match
  if (users !== undefined && !users.has(request.user)) return false
  if (!match.isOfResources) return true
  if (!request.isResource) return false
  return (
    (verbs === undefined || verbs.has(request.verb) || (request.isConnect && verbs.has('connect'))) &&
    (resources === undefined || resources.some((pattern) => matchesResource(pattern, request))) &&
    (namespaces === undefined || namespaces.has(request.namespace)) &&
    (names === undefined || names.has(request.name))
  )
}

function matchesResource({ resource, group, subresource }: ResourcePattern, request: FaultRequest): boolean {
  if (resource !== '*' && resource !== request.resource) return false
  if (group !== undefined && group !== request.group) return false
  return subresource === '*' ? request.subresource !== '' : subresource === request.subresource
}

export const refuseWebhooks =
  (rules: Pick<FaultRules, 'refusesWebhook'>): RefuseWebhook =>
  (name, url) => {
    if (!rules.refusesWebhook(name)) return
    const target = new URL(url)
    const address = hostOf(target)
    const port = portOf(target)
    throw Object.assign(new Error(`connect ECONNREFUSED ${address}:${port}`), { code: 'ECONNREFUSED', syscall: 'connect', address, port })
  }
