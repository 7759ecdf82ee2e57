// What is written of one request: collected while it is answered, and made into an event at each of its stages.

import type { User } from '../api/user.js'
import { writeText } from '../schema/write.js'
import { annotationsText, microTime, type ObjectReference, type StatusText, statusText, userText } from './event-text.js'
import { type AuditLevel, type AuditStage, reaches } from './level.js'
import type { Ruling } from './policy.js'
import { type RecordedRequest, type RequestText, referenceText, requestText, shortRequest, shortUser } from './request-text.js'

/** One line of the log, with what the short format shows of it. */
export interface AuditEvent {
  readonly text: string
  /** The same event in fewer characters, the longest text first: without bodies, and with nothing but the beginning of every text. */
  shortened(): readonly string[]
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
  /** Undefined: it has not been answered yet. */
  readonly code: number | undefined
}

/** What the client sent says of the object. */
export interface SentMetadata {
  readonly name?: string | undefined
  readonly namespace?: string | undefined
  readonly uid?: string | undefined
  readonly resourceVersion?: string | undefined
}

/** What is known at a stage. */
export interface StageInput {
  readonly stage: AuditStage
  readonly nowMs: number
  /** Undefined before the answer. */
  readonly code: number | undefined
  /** As whom the request acts; the same user where nobody is impersonated. */
  readonly actsAs: User | undefined
  readonly annotations: readonly (readonly [string, string])[]
}

/** Of a client's text that is kept for an event; what is longer is left out, and the event says so. */
export const mostKeptBytes = 32 << 20

export class AuditRecord {
  readonly request: RecordedRequest
  readonly level: AuditLevel
  readonly ruling: Ruling
  /** The answer, where it is a Status. */
  status: StatusText | undefined = undefined
  isPanicked = false
  private readonly head: string
  private readonly said: RequestText
  private readonly apiVersion: string
  private ref: ObjectReference | undefined
  /** The same as text, and of which it is. */
  private refText: string
  private refTextOf: ObjectReference | undefined
  private sentText = ''
  private answerText = ''
  private isTruncated = false
  /** Whether the client said more of the object than the path does. */
  private isSaid = false

  constructor(request: RecordedRequest, { ruling, apiVersion }: { readonly ruling: Ruling; readonly apiVersion: string }) {
    this.request = request
    this.level = ruling.level
    this.ruling = ruling
    this.head = `${headText(apiVersion, ruling.level)}${writeText(request.auditId)},"stage":"`
    this.said = requestText(request)
    this.apiVersion = apiVersion
    this.ref = this.said.ref
    this.refText = this.said.refText
    this.refTextOf = this.said.ref
  }

  omits(stage: AuditStage): boolean {
    return this.ruling.omitStages.has(stage)
  }

  get wantsSent(): boolean {
    return reaches(this.level, 'Request')
  }

  get wantsAnswer(): boolean {
    return this.level === 'RequestResponse'
  }

  /** An object came: what the path did not say of it, it says itself. */
  keepMetadata(metadata: SentMetadata | undefined): void {
    const { ref } = this
    if (ref === undefined || metadata === undefined) return
    this.isSaid = true
    this.ref = {
      ...ref,
      namespace: ref.namespace || (metadata.namespace ?? ''),
      name: ref.name || (metadata.name ?? ''),
      uid: metadata.uid ?? '',
      resourceVersion: metadata.resourceVersion ?? '',
    }
  }

  /** JSON of what the client sent. */
  keepSent(json: string): void {
    if (json.length > mostKeptBytes) this.isTruncated = true
    else this.sentText = json
  }

  /** Something was too long to be kept. */
  leaveOut(): void {
    this.isTruncated = true
  }

  keepAnswer(json: string): void {
    if (json.length > mostKeptBytes) this.isTruncated = true
    else this.answerText = json
  }

  event(input: StageInput): AuditEvent {
    return new StageEvent(this, input)
  }

  get hasBodies(): boolean {
    return this.sentText !== '' || this.answerText !== ''
  }

  text({ stage, nowMs, code, actsAs, annotations }: StageInput, hasBodies: boolean, isShortened = false): string {
    const { user, receivedMs } = this.request
    const acting = actsAs === undefined || actsAs === user || user === undefined ? '' : `,"impersonatedUser":${userText(actsAs)}`
    const remarks =
      isShortened || (this.isTruncated && hasBodies) ? [...annotations, [truncatedKey(this.apiVersion), 'true'] as const] : annotations
    return (
      this.head +
      stage +
      (acting === '' && this.ref === this.said.ref
        ? this.said.whole
        : this.said.middle + acting + this.said.origin + this.referenceText()) +
      (code === undefined ? '' : `,"responseStatus":${statusText(this.status, code)}`) +
      (hasBodies && this.sentText !== '' ? `,"requestObject":${this.sentText}` : '') +
      (hasBodies && this.answerText !== '' ? `,"responseObject":${this.answerText}` : '') +
      `,"requestReceivedTimestamp":"${microTime(receivedMs)}","stageTimestamp":"${microTime(nowMs)}"` +
      (remarks.length === 0 ? '' : `,"annotations":${annotationsText(remarks)}`) +
      '}'
    )
  }

  /** Whatever a client sends, so much of its request has room in the log: long texts must not keep an event out of it. */
  brief({ actsAs, ...input }: StageInput): string {
    const request = shortRequest(this.request)
    const acting = actsAs === this.request.user ? request.user : actsAs && shortUser(actsAs)
    const record = new AuditRecord(request, { ruling: this.ruling, apiVersion: this.apiVersion })
    return record.text({ ...input, actsAs: acting, annotations: [] }, false, true)
  }

  private referenceText(): string {
    if (this.ref === undefined) return ''
    if (this.refTextOf !== this.ref) {
      this.refTextOf = this.ref
      this.refText = referenceText(this.ref, this.said.isPlain && !this.isSaid)
    }
    return this.refText
  }

  facts({ stage, code, actsAs }: StageInput): EventFacts {
    const { auditId, verb, uri, userAgent, user, sourceIps, receivedMs } = this.request
    const impersonated = actsAs === user ? undefined : actsAs
    const namespace = this.ref?.namespace ?? ''
    return { auditId, stage, verb, uri, userAgent, user, impersonated, sourceIps, namespace, receivedMs, code }
  }
}

let lastHead = { apiVersion: '', level: '', text: '' }

/** Most events of a server have the same. */
function headText(apiVersion: string, level: AuditLevel): string {
  if (lastHead.level !== level || lastHead.apiVersion !== apiVersion)
    lastHead = {
      apiVersion,
      level,
      text: Buffer.from(`{"kind":"Event","apiVersion":"${apiVersion}","level":"${level}","auditID":`).toString(),
    }
  return lastHead.text
}

const truncatedKey = (apiVersion: string): string => `${apiVersion.slice(0, apiVersion.indexOf('/'))}/truncated`

/** What is made of it later, of few events, is made when somebody asks. */
class StageEvent implements AuditEvent {
  readonly text: string
  readonly #record: AuditRecord
  readonly #input: StageInput
  readonly #hasBodies: boolean

  constructor(record: AuditRecord, input: StageInput) {
    const isWhole = input.stage !== 'RequestReceived'
    this.#record = record
    this.#input = input
    this.#hasBodies = isWhole && record.hasBodies
    this.text = record.text(input, isWhole)
  }

  shortened(): readonly string[] {
    const brief = this.#record.brief(this.#input)
    return this.#hasBodies ? [this.#record.text(this.#input, false, true), brief] : [brief]
  }

  get facts(): EventFacts {
    return this.#record.facts(this.#input)
  }
}
