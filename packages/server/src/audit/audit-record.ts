// Audit record of one request: collects bodies, status and metadata, and creates the event of each stage.

import type { User } from '@cluster-apiserver/api/api/user.js'
import {
  type Annotations,
  auditEventJson,
  type EventStatus,
  type ObjectReference,
  type RecordedRequest,
  shortRequest,
  shortUser,
} from './audit-event-json.js'
import { type AuditDecision, type AuditLevel, type AuditStage, isAtLeast } from './audit-policy.js'

export interface AuditEvent {
  readonly text: string
  /** Shorter versions of `text`, the longest first. */
  shortened(): readonly string[]
  /** Fields of a line in the legacy log format. */
  readonly facts: EventFacts
}

export interface EventFacts {
  readonly auditId: string
  readonly stage: AuditStage
  readonly verb: string
  readonly uri: string
  readonly userAgent: string
  readonly user: User | undefined
  readonly impersonated: User | undefined
  readonly sourceIps: readonly string[]
  readonly namespace: string
  readonly receivedMs: number
  readonly code: number | undefined
}

interface SentMetadata {
  readonly name?: string | undefined
  readonly namespace?: string | undefined
  readonly uid?: string | undefined
  readonly resourceVersion?: string | undefined
}

export interface StageInput {
  readonly stage: AuditStage
  readonly nowMs: number
  /** Undefined before the response. */
  readonly code: number | undefined
  /** Impersonated user; equals the request's user without impersonation. */
  readonly effectiveUser: User | undefined
  readonly annotations: Annotations
}

/** Maximum length of a body in an event; longer ones are omitted and the event is annotated as truncated. */
export const maxBodyChars = 32 << 20

export class AuditRecord {
  readonly request: RecordedRequest
  readonly level: AuditLevel
  readonly decision: AuditDecision
  status: EventStatus | undefined = undefined
  isPanicked = false
  private readonly apiVersion: string
  private ref: ObjectReference | undefined
  private requestJson = ''
  private responseJson = ''
  private isTruncated = false

  constructor(request: RecordedRequest, { decision, apiVersion }: { readonly decision: AuditDecision; readonly apiVersion: string }) {
    this.request = request
    this.level = decision.level
    this.decision = decision
    this.apiVersion = apiVersion
    this.ref = request.info.isResource ? referenceOf(request) : undefined
  }

  omits(stage: AuditStage): boolean {
    return this.decision.omitStages.has(stage)
  }

  get includesRequestBody(): boolean {
    return isAtLeast(this.level, 'Request')
  }

  get includesResponseBody(): boolean {
    return this.level === 'RequestResponse'
  }

  setMetadata(metadata: SentMetadata | undefined): void {
    const { ref } = this
    if (ref === undefined || metadata === undefined) return
    this.ref = {
      ...ref,
      namespace: ref.namespace || (metadata.namespace ?? ''),
      name: ref.name || (metadata.name ?? ''),
      uid: metadata.uid ?? '',
      resourceVersion: metadata.resourceVersion ?? '',
    }
  }

  setRequestBody(json: string): void {
    if (json.length > maxBodyChars) this.isTruncated = true
    else this.requestJson = json
  }

  omitBody(): void {
    this.isTruncated = true
  }

  setResponseBody(json: string): void {
    if (json.length > maxBodyChars) this.isTruncated = true
    else this.responseJson = json
  }

  event(input: StageInput): AuditEvent {
    return new StageEvent(this, input)
  }

  get hasBodies(): boolean {
    return this.requestJson !== '' || this.responseJson !== ''
  }

  text({ stage, nowMs, code, effectiveUser, annotations }: StageInput, includesBodies: boolean, isShortened = false): string {
    const { request, apiVersion } = this
    const isAnnotated = isShortened || (this.isTruncated && includesBodies)
    return auditEventJson({
      head: { kind: 'Event', apiVersion, level: this.level, auditID: request.auditId, stage },
      request,
      impersonated: effectiveUser === request.user || request.user === undefined ? undefined : effectiveUser,
      reference: this.ref,
      code,
      status: this.status,
      requestJson: includesBodies ? this.requestJson : '',
      responseJson: includesBodies ? this.responseJson : '',
      nowMs,
      annotations: isAnnotated ? [...annotations, [truncatedKey(apiVersion), 'true'] as const] : annotations,
    })
  }

  /** Shortest version of the event, for the log even if a client sends long texts. */
  brief({ effectiveUser, ...input }: StageInput): string {
    const request = shortRequest(this.request)
    const shortEffectiveUser = effectiveUser === this.request.user ? request.user : effectiveUser && shortUser(effectiveUser)
    const record = new AuditRecord(request, { decision: this.decision, apiVersion: this.apiVersion })
    return record.text({ ...input, effectiveUser: shortEffectiveUser, annotations: [] }, false, true)
  }

  facts({ stage, code, effectiveUser }: StageInput): EventFacts {
    const { auditId, verb, uri, userAgent, user, sourceIps, receivedMs } = this.request
    const impersonated = effectiveUser === user ? undefined : effectiveUser
    const namespace = this.ref?.namespace ?? ''
    return { auditId, stage, verb, uri, userAgent, user, impersonated, sourceIps, namespace, receivedMs, code }
  }
}

const referenceOf = ({ info, name }: RecordedRequest): ObjectReference => ({
  resource: info.resource,
  namespace: info.namespace,
  name,
  uid: '',
  apiGroup: info.group,
  apiVersion: info.version,
  resourceVersion: '',
  subresource: info.subresource,
})

const truncatedKey = (apiVersion: string): string => `${apiVersion.slice(0, apiVersion.indexOf('/'))}/truncated`

class StageEvent implements AuditEvent {
  readonly text: string
  readonly #record: AuditRecord
  readonly #input: StageInput
  readonly #hasBodies: boolean

  constructor(record: AuditRecord, input: StageInput) {
    const includesBodies = input.stage !== 'RequestReceived'
    this.#record = record
    this.#input = input
    this.#hasBodies = includesBodies && record.hasBodies
    this.text = record.text(input, includesBodies)
  }

  shortened(): readonly string[] {
    const brief = this.#record.brief(this.#input)
    return this.#hasBodies ? [this.#record.text(this.#input, false, true), brief] : [brief]
  }

  get facts(): EventFacts {
    return this.#record.facts(this.#input)
  }
}
