// Auditing: a filter that writes the RequestReceived event once the user is known, and hooks for the later stages.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { readQuery } from '@cluster-apiserver/api/api/options/query.js'
import type { RequestInfo } from '@cluster-apiserver/api/api/request-info.js'
import type { User } from '@cluster-apiserver/api/api/user.js'
import type { Clock } from '@cluster-apiserver/api/base/clock.js'
import { printDuration } from '@cluster-apiserver/api/base/duration.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { shorten } from '@cluster-apiserver/api/base/shorten.js'
import { writeAny } from '@cluster-apiserver/api/schema/json/write.js'
import type { Audit } from '../../audit/audit.js'
import { sourceIps } from '../../audit/audit-event-json.js'
import { type AuditDecision, isAtLeast } from '../../audit/audit-policy.js'
import { AuditRecord, type StageInput } from '../../audit/audit-record.js'
import { isLongRunning } from '../../flow-control/request.js'
import type { Exchange } from '../pipeline/exchange.js'
import type { Filter, Handled } from '../pipeline/filter.js'
import type { RequestHooks } from '../pipeline/lifecycle.js'
import { sendPlain } from '../responses/send-response.js'

interface Auditing {
  readonly filter: Filter
  readonly hooks: RequestHooks
}

interface AuditParts {
  readonly audit: Audit
  readonly identity: Identity
  readonly clock: Clock
}

export function auditing({ audit, identity, clock }: AuditParts): Auditing {
  const keys = annotationKeys(identity)

  const recordOf = (exchange: Exchange, user: User | undefined): AuditRecord | null => {
    const { info } = exchange
    const verb = verbOf(info)
    const { name } = info
    const decision = audit.policy({ user, verb, name, info })
    audit.counters.countLevel(decision.level)
    if (decision.level === 'None') return null
    return recordFor(exchange, decision, { user, verb, name, apiVersion: audit.apiVersion })
  }

  const write = (exchange: Exchange, record: AuditRecord, stage: StageInput['stage'], code: number): void => {
    if (record.omits(stage)) return
    const annotations = annotationsOf(exchange, record, { keys, isComplete: stage !== 'ResponseStarted' })
    if (stage === 'ResponseComplete') annotations.push(...latenciesOf(exchange, keys.latency))
    audit.write(record.event({ stage, nowMs: clock.now(), code, effectiveUser: exchange.user, annotations }))
  }

  const filter: Filter = async (exchange) => {
    const record = recordOf(exchange, exchange.user)
    exchange.audited = record
    if (record === null || record.omits('RequestReceived')) return false
    const event = record.event({ stage: 'RequestReceived', nowMs: clock.now(), code: undefined, effectiveUser: undefined, annotations: [] })
    if (await audit.writeFirst(event)) return false
    audit.counters.rejected++
    exchange.audited = null
    return sendFailure(exchange)
  }

  const hooks: RequestHooks = {
    responseStarted: (exchange) => {
      const { audited } = exchange
      if (audited && isLongRunning(exchange.info)) write(exchange, audited, 'ResponseStarted', exchange.response.statusCode)
    },
    responseComplete: (exchange) => {
      const { audited } = exchange
      const { statusCode } = exchange.response
      if (audited) {
        if (!audited.isPanicked) write(exchange, audited, 'ResponseComplete', statusCode)
      } else if (audited === undefined && refusalCodes.has(statusCode)) writeRefused(exchange, statusCode)
    },
    panic: (exchange, thrown) => {
      const { audited } = exchange
      if (!audited || audited.isPanicked) return
      audited.isPanicked = true
      audited.status = panicStatus(thrown)
      write(exchange, audited, 'Panic', 500)
    },
  }

  const writeRefused = (exchange: Exchange, code: number): void => {
    const record = recordOf(exchange, undefined)
    exchange.audited = null
    if (record === null || record.omits('ResponseStarted')) return
    const { refusal = {} } = exchange
    const isNegotiated = refusal['status'] !== undefined
    record.status = isNegotiated || code !== unauthorizedCode ? refusal : { message: attemptedMethods(exchange) }
    if (isNegotiated && record.includesResponseBody) record.setResponseBody(writeAny(refusal))
    audit.write(record.event({ stage: 'ResponseStarted', nowMs: clock.now(), code, effectiveUser: undefined, annotations: [] }))
  }

  return { filter, hooks }
}

interface AuditedRequest {
  readonly user: User | undefined
  readonly verb: string
  readonly name: string
  readonly apiVersion: string
}

function recordFor(exchange: Exchange, decision: AuditDecision, { user, verb, name, apiVersion }: AuditedRequest): AuditRecord {
  const request = {
    info: exchange.info,
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
  return new AuditRecord(request, { decision, apiVersion })
}

const unauthorizedCode = 401
/** Requests refused before authentication: an invalid `timeout` parameter, and invalid credentials. */
const refusalCodes: ReadonlySet<number> = new Set([400, unauthorizedCode])

/** Message of kube-apiserver about a 401 whose Status the client does not accept. */
function attemptedMethods(exchange: Exchange): string {
  const { headers, certificate, info } = exchange
  const scheme = /^\s*(basic|bearer)\s+\S/i.exec(headers.authorization ?? '')?.[1]?.toLowerCase()
  const methods = scheme === undefined ? [] : [scheme]
  if (readQuery(info.query).first('access_token')) methods.push('access_token')
  if (certificate !== undefined) methods.push('x509')
  return methods.length === 0 ? 'Authentication failed, no credentials provided' : `Authentication failed, attempted: ${methods.join(', ')}`
}

function sendFailure(exchange: Exchange): Handled {
  const path = JSON.stringify(shorten(exchange.request.url ?? ''))
  sendPlain(exchange, 500, `Internal Server Error: ${path}: failed to store audit event\n`)
  return true
}

const panicStatus = (thrown: unknown) => ({
  status: 'Failure',
  message: `APIServer panic'd: ${shorten(errorMessage(thrown))}`,
  reason: 'InternalError',
})

function headerOf({ headers }: Exchange, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

const resourceMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])

/** Empty for methods that resources do not support, as in kube-apiserver. */
const verbOf = ({ isResource, method, verb }: RequestInfo): string =>
  isResource && verb !== 'watch' && verb !== 'proxy' && !resourceMethods.has(method) ? '' : verb

interface AnnotationKeys {
  readonly decision: string
  readonly reason: string
  readonly deprecated: string
  readonly removedRelease: string
  readonly latency: string
}

const annotationKeys = (identity: Identity): AnnotationKeys => ({
  decision: `${identity.group({ stem: 'authorization' })}/decision`,
  reason: `${identity.group({ stem: 'authorization' })}/reason`,
  deprecated: `${identity.groupSuffix}/deprecated`,
  removedRelease: `${identity.groupSuffix}/removed-release`,
  latency: `apiserver.latency.${identity.groupSuffix}`,
})

/** Requests that take longer show the time of their layers, as in kube-apiserver. */
const slowMs = 500

function latenciesOf({ begunMs, layerLatencies }: Exchange, prefix: string): readonly (readonly [string, string])[] {
  const totalMs = performance.now() - begunMs
  if (totalMs <= slowMs || layerLatencies.size === 0) return []
  return [...layerLatencies, ['total', totalMs] as const].map(([layer, ms]) => [`${prefix}/${layer}`, durationText(ms)])
}

const durationText = (ms: number): string => printDuration(BigInt(Math.round(ms * 1e6)))

/** `isComplete`: adds the annotations about deprecation, as in kube-apiserver. */
function annotationsOf(
  { decision, annotations, removedRelease }: Exchange,
  record: AuditRecord,
  { keys, isComplete }: { readonly keys: AnnotationKeys; readonly isComplete: boolean },
): (readonly [string, string])[] {
  const all: (readonly [string, string])[] = []
  if (decision !== undefined) {
    // A failed authorizer is not a refusal.
    if (decision.verdict !== 'allow' && decision.error !== undefined) all.push([keys.reason, 'internal error'])
    else all.push([keys.decision, decision.verdict === 'allow' ? 'allow' : 'forbid'], [keys.reason, decision.reason])
  }
  for (const { key, value, atLeast } of annotations) if (isAtLeast(record.level, atLeast)) all.push([key, value])
  if (removedRelease !== undefined && isComplete) {
    all.push([keys.deprecated, 'true'])
    if (removedRelease !== '') all.push([keys.removedRelease, removedRelease])
  }
  return all
}
