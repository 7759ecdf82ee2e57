// Messages between the primary process and its workers, and their encoding. Numbers are doubles, texts and bytes have a length of 4 bytes.

import type { Change, CommitOutcome, Entry, Write } from '../storage.js'

/** Frame types. A worker may commit and read; it can neither compact nor close the store. */
export const toPrimary = { hello: 1, commit: 2, index: 3, alive: 4, lines: 5 } as const
export const toWorker = { welcome: 11, tooOld: 12, changes: 13, outcome: 14, index: 15, lines: 16, alive: 17 } as const

/** A primary and a worker of different versions of this server do not talk to each other. */
const protocolVersion = 3

const absent = 0xffffffff

class PayloadWriter {
  readonly #parts: Buffer[] = []

  number(value: number): this {
    const bytes = Buffer.allocUnsafe(8)
    bytes.writeDoubleLE(value, 0)
    this.#parts.push(bytes)
    return this
  }

  optionalNumber(value: number | undefined): this {
    return this.number(value ?? Number.NaN)
  }

  bytes(value: Uint8Array | undefined): this {
    const length = Buffer.allocUnsafe(4)
    length.writeUInt32LE(value?.length ?? absent, 0)
    this.#parts.push(length)
    if (value !== undefined && value.length > 0) this.#parts.push(Buffer.isBuffer(value) ? value : Buffer.from(value))
    return this
  }

  text(value: string | undefined): this {
    return this.bytes(value === undefined ? undefined : Buffer.from(value))
  }

  done(): Buffer {
    return Buffer.concat(this.#parts)
  }
}

class PayloadReader {
  readonly #payload: Buffer
  #at = 0

  constructor(payload: Buffer) {
    this.#payload = payload
  }

  number(): number {
    const value = this.#payload.readDoubleLE(this.#at)
    this.#at += 8
    return value
  }

  optionalNumber(): number | undefined {
    const value = this.number()
    return Number.isNaN(value) ? undefined : value
  }

  /** A copy: a part of the chunk would keep the whole chunk in memory. */
  bytes(): Buffer | undefined {
    const [start, end] = this.#part()
    if (start === undefined) return undefined
    const value = Buffer.allocUnsafeSlow(end - start)
    this.#payload.copy(value, 0, start, end)
    return value
  }

  text(): string | undefined {
    const [start, end] = this.#part()
    return start === undefined ? undefined : this.#payload.toString('utf8', start, end)
  }

  /** Start and end of a value; undefined if it is absent. */
  #part(): readonly [number, number] | readonly [undefined, undefined] {
    const length = this.#payload.readUInt32LE(this.#at)
    this.#at += 4
    if (length === absent) return [undefined, undefined]
    const start = this.#at
    this.#at += length
    if (this.#at > this.#payload.length) throw new RangeError('a message ends in the middle of a value')
    return [start, this.#at]
  }

  /** A wrong number of writes must not commit a part of them. */
  end(): void {
    if (this.#at !== this.#payload.length) throw new RangeError(`a message has ${this.#payload.length - this.#at} bytes too many`)
  }
}

export interface Hello {
  readonly nonce: string
  /** Revision of the data file that the worker reads; changes after it are requested. */
  readonly after: number
}

export const encodeHello = ({ nonce, after }: Hello): Buffer => new PayloadWriter().number(protocolVersion).text(nonce).number(after).done()

export function decodeHello(payload: Buffer): Hello {
  const reader = new PayloadReader(payload)
  const version = reader.number()
  if (version !== protocolVersion) throw new Error(`the worker speaks version ${version} of the protocol, not ${protocolVersion}`)
  return { nonce: reader.text() ?? '', after: reader.number() }
}

export interface CommitRequest {
  readonly id: number
  readonly writes: readonly Write[]
}

export function encodeCommit({ id, writes }: CommitRequest): Buffer {
  const writer = new PayloadWriter().number(id).number(writes.length)
  for (const { key, value, expect, expiresAtMs } of writes) writer.text(key).bytes(value).optionalNumber(expect).optionalNumber(expiresAtMs)
  return writer.done()
}

export function decodeCommit(payload: Buffer): CommitRequest {
  const reader = new PayloadReader(payload)
  const id = reader.number()
  const count = reader.number()
  const writes: Write[] = []
  for (let i = 0; i < count; i++) {
    const key = reader.text() ?? ''
    const value = reader.bytes()
    const expect = reader.optionalNumber()
    const expiresAtMs = reader.optionalNumber()
    writes.push({ key, value, expect, ...(expiresAtMs === undefined ? {} : { expiresAtMs }) })
  }
  reader.end()
  return { id, writes }
}

/** A change without the previous entry, which the worker has. */
export type SentChange = Pick<Change, 'revision' | 'key' | 'value'>

export interface ChangesMessage {
  /** Revision of the store after the changes. */
  readonly revision: number
  readonly changes: readonly SentChange[]
}

export function encodeChanges({ revision, changes }: ChangesMessage): Buffer {
  const writer = new PayloadWriter().number(revision).number(changes.length)
  for (const change of changes) writer.number(change.revision).text(change.key).bytes(change.value)
  return writer.done()
}

export function decodeChanges(payload: Buffer): ChangesMessage {
  const reader = new PayloadReader(payload)
  const revision = reader.number()
  const count = reader.number()
  const changes: SentChange[] = []
  for (let i = 0; i < count; i++) changes.push({ revision: reader.number(), key: reader.text() ?? '', value: reader.bytes() })
  reader.end()
  return { revision, changes }
}

export type FailureKind = 'unavailable' | 'invalid'

/** A conflict with an entry that the worker has in this revision. */
export interface KnownConflict {
  readonly ok: false
  readonly key: string
  readonly currentRevision: number
}

/** Outcome of a commit, or the error with which the store rejected it. */
export type SentOutcome = CommitOutcome | KnownConflict | { readonly failure: FailureKind; readonly message: string }

const outcomeKinds = ['ok', 'conflict', 'unavailable', 'invalid'] as const

export function encodeOutcome(id: number, outcome: SentOutcome): Buffer {
  const writer = new PayloadWriter().number(id)
  if ('failure' in outcome) return writer.number(outcomeKinds.indexOf(outcome.failure)).text(outcome.message).done()
  if (outcome.ok) return writer.number(0).number(outcome.revision).done()
  if ('currentRevision' in outcome) return writer.number(1).text(outcome.key).number(outcome.currentRevision).bytes(undefined).done()
  const { key, current } = outcome
  return writer.number(1).text(key).optionalNumber(current?.revision).bytes(current?.value).done()
}

export function decodeOutcome(payload: Buffer): { readonly id: number; readonly outcome: SentOutcome } {
  const reader = new PayloadReader(payload)
  const id = reader.number()
  const kind = outcomeKinds[reader.number()]
  if (kind === 'ok') return { id, outcome: { ok: true, revision: reader.number() } }
  if (kind === 'unavailable' || kind === 'invalid') return { id, outcome: { failure: kind, message: reader.text() ?? '' } }
  const key = reader.text() ?? ''
  const revision = reader.optionalNumber()
  const value = reader.bytes()
  if (revision !== undefined && value === undefined) return { id, outcome: { ok: false, key, currentRevision: revision } }
  const current: Entry | undefined = revision === undefined || value === undefined ? undefined : { key, revision, value }
  return { id, outcome: { ok: false, key, current } }
}

export interface StoreState {
  readonly revision: number
  readonly compacted: number
}

export const encodeState = (id: number, { revision, compacted }: StoreState): Buffer =>
  new PayloadWriter().number(id).number(revision).number(compacted).done()

export function decodeState(payload: Buffer): StoreState & { readonly id: number } {
  const reader = new PayloadReader(payload)
  return { id: reader.number(), revision: reader.number(), compacted: reader.number() }
}

export const encodeId = (id: number): Buffer => new PayloadWriter().number(id).done()

export const decodeId = (payload: Buffer): number => new PayloadReader(payload).number()

/** Whole lines for the audit log of the primary. */
export const encodeLines = (id: number, lines: Buffer): Buffer => new PayloadWriter().number(id).bytes(lines).done()

export function decodeLines(payload: Buffer): { readonly id: number; readonly lines: Buffer } {
  const reader = new PayloadReader(payload)
  return { id: reader.number(), lines: reader.bytes() ?? Buffer.alloc(0) }
}

/** `problem`: the lines were lost. */
export const encodeLinesOutcome = (id: number, problem: string | undefined): Buffer => new PayloadWriter().number(id).text(problem).done()

export function decodeLinesOutcome(payload: Buffer): { readonly id: number; readonly problem: string | undefined } {
  const reader = new PayloadReader(payload)
  return { id: reader.number(), problem: reader.text() }
}
