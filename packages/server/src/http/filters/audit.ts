// Auditing on the way of a request: a filter that tells of it as soon as it is known who asks, and hooks for what follows.

import type { Identity } from '../api/identity.js'
import { selectedName } from '../api/options/selected-name.js'
import type { RequestInfo } from '../api/request-info.js'
import type { User } from '../api/user.js'
import type { Audit } from '../audit/audit.js'
import { reaches } from '../audit/level.js'
import type { Ruling } from '../audit/policy.js'
import { AuditRecord, type StageInput } from '../audit/record.js'
import { sourceIps } from '../audit/source-ips.js'
import type { Clock } from '../base/clock.js'
import { shorten } from '../base/shorten.js'
import type { Exchange } from './exchange.js'
import type { RequestHooks } from './lifecycle.js'
import type { Answered, Filter } from './pipeline.js'
import { isLongRunning } from './priority.js'
import { sendPlain } from './respond.js'

export interface Auditing {
  readonly filter: Filter
  readonly hooks: RequestHooks
}

export interface AuditingParts {
  readonly audit: Audit
  readonly identity: Identity
  readonly clock: Clock
}

export function auditing({ audit, identity, clock }: AuditingParts): Auditing {
  const keys = annotationKeys(identity)

  const recordOf = (exchange: Exchange, user: User | undefined): AuditRecord | null => {
    const { info } = exchange
    const verb = verbOf(info)
    const name = selectedName(info)
    const ruling = audit.policy({ user, verb, name, info })
    audit.tallies.countLevel(ruling.level)
    if (ruling.level === 'None') return null
    return recordFor(exchange, ruling, { user, verb, name, apiVersion: audit.apiVersion })
  }

  const tell = (exchange: Exchange, record: AuditRecord, stage: StageInput['stage'], code: number): void => {
    if (record.omits(stage)) return
    const annotations = annotationsOf(exchange, record, { keys, isComplete: stage !== 'ResponseStarted' })
    audit.tell(record.event({ stage, nowMs: clock.now(), code, actsAs: exchange.user, annotations }))
  }

  const filter: Filter = (exchange) => {
    const record = recordOf(exchange, exchange.user)
    exchange.audited = record
    if (record === null || record.omits('RequestReceived')) return false
    const first = record.event({ stage: 'RequestReceived', nowMs: clock.now(), code: undefined, actsAs: undefined, annotations: [] })
    const goOn = (isTold: boolean): Answered => {
      if (isTold) return false
      audit.tallies.rejected++
      exchange.audited = null
      return refuse(exchange)
    }
    const told = audit.tellFirst(first)
    return typeof told === 'boolean' ? goOn(told) : told.then(goOn)
  }

  const hooks: RequestHooks = {
    responseStarted: (exchange) => {
      const { audited } = exchange
      if (audited && isLongRunning(exchange.info)) tell(exchange, audited, 'ResponseStarted', exchange.response.statusCode)
    },
    responseComplete: (exchange) => {
      const { audited } = exchange
      const { statusCode } = exchange.response
      if (audited) {
        if (!audited.isPanicked) tell(exchange, audited, 'ResponseComplete', statusCode)
      } else if (audited === undefined && statusCode === unauthorizedCode) tellOfStranger(exchange)
    },
    panic: (exchange, thrown) => {
      const { audited } = exchange
      if (!audited || audited.isPanicked) return
      audited.isPanicked = true
      audited.status = panicStatus(thrown)
      tell(exchange, audited, 'Panic', 500)
    },
  }

  /** Somebody whom nobody believed: nothing was told of the request before. */
  const tellOfStranger = (exchange: Exchange): void => {
    const record = recordOf(exchange, undefined)
    exchange.audited = null
    if (record === null || record.omits('ResponseStarted')) return
    record.status = { status: 'Failure', message: 'Unauthorized', reason: 'Unauthorized' }
    const stage = { stage: 'ResponseStarted', nowMs: clock.now(), code: unauthorizedCode, actsAs: undefined, annotations: [] } as const
    audit.tell(record.event(stage))
  }

  return { filter, hooks }
}

interface Recorded {
  readonly user: User | undefined
  readonly verb: string
  readonly name: string
  readonly apiVersion: string
}

/** Where only bodies are collected, nobody has to know more than how much is wanted of them. */
export function recordFor(exchange: Exchange, ruling: Ruling, recorded?: Recorded): AuditRecord {
  const { info } = exchange
  const { user, verb, name, apiVersion } = recorded ?? { user: exchange.user, verb: info.verb, name: selectedName(info), apiVersion: '' }
  const request = {
    info,
    name,
    verb,
    user,
    uri: exchange.request.url ?? '',
    auditId: exchange.auditId,
    userAgent: exchange.userAgent,
    sourceIps: sourceIps({
      forwardedFor: headerOf(exchange, 'x-forwarded-for'),
      realIp: headerOf(exchange, 'x-real-ip'),
      peer: exchange.remoteAddress,
    }),
    receivedMs: exchange.now,
  }
  return new AuditRecord(request, { ruling, apiVersion })
}

const unauthorizedCode = 401

function refuse(exchange: Exchange): Answered {
  const path = JSON.stringify(shorten(exchange.request.url ?? ''))
  sendPlain(exchange, 500, `Internal Server Error: ${path}: failed to store audit event\n`)
  return true
}

const panicStatus = (thrown: unknown) => ({
  status: 'Failure',
  message: `APIServer panic'd: ${shorten(thrown instanceof Error ? thrown.message : String(thrown))}`,
  reason: 'InternalError',
})

function headerOf({ headers }: Exchange, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

const resourceMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])

/** A method that resources do not have is no verb. */
const verbOf = ({ isResource, method, verb }: RequestInfo): string =>
  isResource && verb !== 'watch' && verb !== 'proxy' && !resourceMethods.has(method) ? '' : verb

interface AnnotationKeys {
  readonly decision: string
  readonly reason: string
  readonly deprecated: string
  readonly removedRelease: string
}

const annotationKeys = (identity: Identity): AnnotationKeys => ({
  decision: `${identity.group({ stem: 'authorization' })}/decision`,
  reason: `${identity.group({ stem: 'authorization' })}/reason`,
  deprecated: `${identity.groupSuffix}/deprecated`,
  removedRelease: `${identity.groupSuffix}/removed-release`,
})

/** What the reference says of a deprecated version it says at the end only. */
function annotationsOf(
  { decision, annotations, removedRelease }: Exchange,
  record: AuditRecord,
  { keys, isComplete }: { readonly keys: AnnotationKeys; readonly isComplete: boolean },
): readonly (readonly [string, string])[] {
  const all: (readonly [string, string])[] = []
  if (decision !== undefined) {
    // What could not be decided was not forbidden.
    if (decision.verdict !== 'allow' && decision.error !== undefined) all.push([keys.reason, 'internal error'])
    else all.push([keys.decision, decision.verdict === 'allow' ? 'allow' : 'forbid'], [keys.reason, decision.reason])
  }
  for (const { key, value, atLeast } of annotations) if (reaches(record.level, atLeast)) all.push([key, value])
  if (removedRelease !== undefined && isComplete) {
    all.push([keys.deprecated, 'true'])
    if (removedRelease !== '') all.push([keys.removedRelease, removedRelease])
  }
  return all
}
