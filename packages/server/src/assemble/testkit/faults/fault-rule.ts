// Fault rules of a test: their type, and the check of a rule from a program or from the control API.

import { shorten } from '@cluster-apiserver/api/base/shorten.js'
import { type Duration, readDurationMs } from '../duration.js'

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection', 'connect'] as const
const ends = ['close', 'cut', 'expired'] as const

type OneOrMore<T> = T | readonly T[]

export type FaultVerb = (typeof verbs)[number]

/** An error response. */
export interface FaultError {
  /** HTTP status, 400 to 599. */
  readonly code: number
  /** Default: the usual reason of the code. */
  readonly reason?: string
  readonly message?: string
  readonly retryAfterSeconds?: number
}

/** A fault of a watch stream. No event is lost or reordered while the stream is open. */
export interface WatchFault {
  /** `close`: as after the timeout of a watch; `cut`: without the end of the response; `expired`: with an ERROR event, 410. */
  readonly end?: (typeof ends)[number]
  /** Number of events before `end`; default: 0. */
  readonly afterEvents?: number
  /** Time between a change and its event. */
  readonly delay?: Duration
  /** Sends each event twice. */
  readonly repeat?: true
}

/** Conditions, all of which must hold, and exactly one action. In a matcher, `*` stands for any value. */
export interface FaultRule {
  readonly verb?: OneOrMore<FaultVerb | '*'>
  /** Such as `pods`, `pods/status` or `wares.shop.example.com`; without a group: the resource of any group. */
  readonly resource?: OneOrMore<string>
  readonly namespace?: OneOrMore<string>
  /** Name of the object; for the action `webhook`, of the webhook. */
  readonly name?: OneOrMore<string>
  readonly user?: OneOrMore<string>
  /** Numbers of the matches at which the rule fires, from 1. */
  readonly nth?: OneOrMore<number>
  /** Maximum number of times that the rule fires. */
  readonly times?: number
  /** From 0 to 1. The same seed chooses the same matches. */
  readonly probability?: number
  readonly seed?: number

  readonly error?: FaultError
  /** Waits before the request is served, or before the next rule decides. */
  readonly latency?: Duration
  /** Closes the connection without a response: `before` the request is carried out, or `after` its commit. */
  readonly cut?: 'before' | 'after'
  readonly watch?: WatchFault
  /** The bearer token of the request is expired from now on. */
  readonly expireToken?: true
  readonly webhook?: 'unavailable'
  readonly disk?: 'full'
}

/** A checked rule. */
export interface ParsedRule {
  readonly rule: FaultRule
  readonly match: FaultMatch
  readonly choice: FaultChoice
  readonly action: FaultAction
}

/** Undefined: any value. */
export interface FaultMatch {
  readonly verbs: ReadonlySet<string> | undefined
  readonly resources: readonly ResourcePattern[] | undefined
  readonly namespaces: ReadonlySet<string> | undefined
  readonly names: ReadonlySet<string> | undefined
  readonly users: ReadonlySet<string> | undefined
  /** False if the rule also matches requests without a resource, such as /version. */
  readonly isOfResources: boolean
}

export interface ResourcePattern {
  /** `*`: any. */
  readonly resource: string
  /** Undefined: any. */
  readonly group: string | undefined
  /** '': the resource itself; `*`: any subresource. */
  readonly subresource: string
}

export interface FaultChoice {
  readonly nth: ReadonlySet<number> | undefined
  readonly times: number
  readonly probability: number
  readonly seed: number
}

export interface WatchAction {
  readonly kind: 'watch'
  readonly end: WatchFault['end']
  readonly afterEvents: number
  readonly delayMs: number
  readonly repeats: boolean
}

export type FaultAction =
  | { readonly kind: 'error'; readonly error: FaultError }
  | { readonly kind: 'latency'; readonly ms: number }
  | { readonly kind: 'cut'; readonly isAfterCommit: boolean }
  | WatchAction
  | { readonly kind: 'expireToken' }
  | { readonly kind: 'webhook' }
  | { readonly kind: 'disk' }

/** A rule that is not valid. The message names the member. */
export class FaultRuleError extends TypeError {
  override readonly name = 'FaultRuleError'
}

const matchers = ['verb', 'resource', 'namespace', 'name', 'user'] as const
const choices = ['nth', 'times', 'probability', 'seed'] as const
const actions = ['error', 'latency', 'cut', 'watch', 'expireToken', 'webhook', 'disk'] as const
/** Maximum number of values of a member such as `verb` or `nth`. */
const maxListed = 1_000

type Members = { readonly [member: string]: unknown }

export function parseFaultRule(value: unknown): ParsedRule {
  const members = membersOf('the rule', value, [...matchers, ...choices, ...actions])
  const action = actionOf(members)
  checkMatchers(members, action)
  return {
    rule: JSON.parse(JSON.stringify(value)) as FaultRule,
    match: matchOf(members),
    choice: choiceOf(members),
    action,
  }
}

function actionOf(members: Members): FaultAction {
  const given = actions.filter((name) => members[name] !== undefined)
  const [kind] = given
  if (kind === undefined || given.length > 1)
    throw new FaultRuleError(`fault rule: exactly one of ${actions.join(', ')} is needed${kind ? `, not ${given.join(' and ')}` : ''}`)
  const value = members[kind]
  switch (kind) {
    case 'error':
      return { kind, error: errorOf(value) }
    case 'latency':
      return { kind, ms: durationOf(kind, value) }
    case 'cut':
      return { kind, isAfterCommit: oneOf(kind, value, ['before', 'after']) === 'after' }
    case 'watch':
      return watchOf(value)
    case 'expireToken':
      oneOf(kind, value, [true])
      return { kind }
    case 'webhook':
      oneOf(kind, value, ['unavailable'])
      return { kind }
    case 'disk':
      oneOf(kind, value, ['full'])
      return { kind }
  }
}

function errorOf(value: unknown): FaultError {
  const { code, reason, message, retryAfterSeconds } = membersOf('error', value, ['code', 'reason', 'message', 'retryAfterSeconds'])
  return {
    code: integer('error.code', code, { min: 400, max: 599 }),
    ...(reason === undefined ? {} : { reason: text('error.reason', reason) }),
    ...(message === undefined ? {} : { message: text('error.message', message) }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds: integer('error.retryAfterSeconds', retryAfterSeconds, { min: 0 }) }),
  }
}

function watchOf(value: unknown): WatchAction {
  const { end, afterEvents, delay, repeat } = membersOf('watch', value, ['end', 'afterEvents', 'delay', 'repeat'])
  if (end === undefined && delay === undefined && repeat === undefined)
    throw new FaultRuleError('fault rule: watch needs at least one of end, delay, repeat')
  if (end === undefined && afterEvents !== undefined) throw new FaultRuleError('fault rule: watch.afterEvents needs watch.end')
  return {
    kind: 'watch',
    end: end === undefined ? undefined : oneOf('watch.end', end, ends),
    afterEvents: afterEvents === undefined ? 0 : integer('watch.afterEvents', afterEvents, { min: 0 }),
    delayMs: delay === undefined ? 0 : durationOf('watch.delay', delay),
    repeats: repeat !== undefined && oneOf('watch.repeat', repeat, [true]),
  }
}

/** Refuses matchers with which the action would never fire. */
function checkMatchers(members: Members, { kind }: FaultAction): void {
  const allowed: readonly string[] = kind === 'disk' ? [] : kind === 'webhook' ? ['name'] : matchers
  const refused = matchers.find((name) => members[name] !== undefined && !allowed.includes(name))
  if (refused !== undefined)
    throw new FaultRuleError(
      `fault rule: ${refused} has no effect for ${kind}, which ${kind === 'disk' ? 'affects the whole server' : 'matches only the name of the webhook'}`,
    )
  const matched = listOf(members['verb'])
  if (kind === 'watch' && members['verb'] !== undefined && !matched.includes('watch') && !matched.includes('*'))
    throw new FaultRuleError(`fault rule: verb must be "watch" for a fault of watches, not ${show(members['verb'])}`)
}

const matchOf = (members: Members): FaultMatch => ({
  verbs: setOf('verb', members['verb'], (member, value) => oneOf(member, value, [...verbs, '*'])),
  resources: setOf('resource', members['resource'], text) && listOf(members['resource']).map(patternOf),
  namespaces: setOf('namespace', members['namespace'], text),
  names: setOf('name', members['name'], text),
  users: setOf('user', members['user'], text),
  isOfResources: ['verb', 'resource', 'namespace', 'name'].some((name) => members[name] !== undefined),
})

/** `*` stands for every resource and subresource, and is not a pattern. */
function patternOf(value: unknown): ResourcePattern {
  const found = /^([a-z0-9-]+|\*)(?:\.([a-z0-9.-]+))?(?:\/([a-z0-9-]+|\*))?$/.exec(text('resource', value))
  if (found === null)
    throw new FaultRuleError(
      `fault rule: resource must be a plural such as "pods", "pods/status" or "wares.shop.example.com", not ${show(value)}`,
    )
  const [, resource = '', group, subresource = ''] = found
  return { resource, group, subresource }
}

function choiceOf({ nth, times, probability, seed }: Members): FaultChoice {
  if (probability === undefined && seed !== undefined) throw new FaultRuleError('fault rule: seed needs probability')
  if (probability !== undefined && !(typeof probability === 'number' && probability >= 0 && probability <= 1))
    throw wrong('probability', 'a number from 0 to 1', probability)
  return {
    nth: nth === undefined ? undefined : new Set(nonEmptyList('nth', nth).map((value) => integer('nth', value, { min: 1 }))),
    times: times === undefined ? Number.POSITIVE_INFINITY : integer('times', times, { min: 1 }),
    probability: probability ?? 1,
    seed: seed === undefined ? 0 : integer('seed', seed, { min: 0, max: 2 ** 32 - 1 }),
  }
}

function membersOf<Name extends string>(where: string, value: unknown, known: readonly Name[]): { readonly [name in Name]?: unknown } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(where, 'an object', value)
  const unknown = Object.keys(value).find((name) => !(known as readonly string[]).includes(name))
  if (unknown !== undefined) {
    const prefix = where === 'the rule' ? '' : `${where}.`
    throw new FaultRuleError(`fault rule: ${prefix}${shorten(unknown)} is unknown; the members are ${known.join(', ')}`)
  }
  return value
}

/** Undefined without the member, and if `*` is among its values. */
function setOf(member: string, value: unknown, read: (member: string, value: unknown) => string): ReadonlySet<string> | undefined {
  if (value === undefined) return undefined
  const values = nonEmptyList(member, value).map((each) => read(member, each))
  return values.includes('*') ? undefined : new Set(values)
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

function nonEmptyList(member: string, value: unknown): readonly unknown[] {
  const list = listOf(value)
  if (list.length === 0 || list.length > maxListed) throw new FaultRuleError(`fault rule: ${member} must have 1 to ${maxListed} values`)
  return list
}

function text(member: string, value: unknown): string {
  if (typeof value !== 'string') throw wrong(member, 'a text', value)
  return value
}

function integer(member: string, value: unknown, { min, max = Number.MAX_SAFE_INTEGER }: { readonly min: number; readonly max?: number }) {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max)
    throw wrong(member, max === Number.MAX_SAFE_INTEGER ? `an integer of at least ${min}` : `an integer from ${min} to ${max}`, value)
  return value
}

function oneOf<const T extends string | boolean>(member: string, value: unknown, known: readonly T[]): T {
  const found = known.find((each) => each === value)
  if (found === undefined) throw wrong(member, known.length === 1 ? show(known[0]) : `one of ${known.join(', ')}`, value)
  return found
}

function durationOf(member: string, value: unknown): number {
  try {
    return readDurationMs(value)
  } catch {
    throw wrong(member, 'milliseconds or a duration such as "500ms" or "1m30s"', value)
  }
}

const wrong = (member: string, expected: string, value: unknown): FaultRuleError =>
  new FaultRuleError(`fault rule: ${member} must be ${expected}, not ${show(value)}`)

const show = (value: unknown): string => shorten(JSON.stringify(value) ?? String(value))
