// Log audit backend: writes one line per event, as JSON or in the legacy format.

import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { escapeJsonControls } from '@cluster-apiserver/api/base/text/escape-json-controls.js'
import type { AuditCounters, Backend } from './audit.js'
import type { AuditEvent, EventFacts } from './audit-record.js'

export interface LineWriter {
  /** Rejects if lines are lost. The buffer is reused, so queued lines must be copied. */
  append(lines: Buffer): Promise<void>
  close(): Promise<void>
}

interface LogBackendParts {
  readonly writer: LineWriter
  readonly format: 'json' | 'legacy'
  readonly counters: AuditCounters
  readonly logger: Logger
  /** blocking-strict: each call of `process` writes at once. Otherwise events of one event-loop iteration are one write. */
  readonly isStrict: boolean
}

/** Buffer for one event-loop iteration; longer lines are written directly. */
const bufferBytes = 64 << 10
const newline = 10

export class LogBackend implements Backend {
  readonly #parts: LogBackendParts
  readonly #buffer = Buffer.allocUnsafeSlow(bufferBytes)
  #bufferedBytes = 0
  #bufferedLines = 0
  #isFailing = false
  #pendingWrite: Promise<boolean> | undefined

  constructor(parts: LogBackendParts) {
    this.#parts = parts
  }

  async process(events: readonly AuditEvent[]): Promise<boolean> {
    const isFirst = this.#bufferedBytes === 0
    const written: Promise<boolean>[] = []
    for (const event of events) written.push(...this.#add(this.#parts.format === 'json' ? event.text : legacyLine(event.facts)))
    if (this.#parts.isStrict) return (await Promise.all([...written, this.#flush()])).every(Boolean)
    // Lines of all requests of this event-loop iteration are one write.
    if (isFirst && this.#bufferedBytes > 0) setImmediate(() => this.#flush())
    return this.#pendingWrite ?? true
  }

  #add(text: string): readonly Promise<boolean>[] {
    const isAscii = Buffer.byteLength(text) === text.length
    const line = isAscii ? text : escapeJsonControls(text)
    // A UTF-16 code unit has at most three bytes in UTF-8.
    const maxLineBytes = line.length * 3 + 1
    const flushed = this.#bufferedBytes + maxLineBytes > bufferBytes ? [this.#flush()] : []
    this.#bufferedLines += 1
    if (maxLineBytes > bufferBytes) return [...flushed, this.#write(Buffer.from(`${line}\n`))]
    this.#bufferedBytes += this.#buffer.write(line, this.#bufferedBytes)
    this.#buffer[this.#bufferedBytes++] = newline
    return flushed
  }

  async close(): Promise<void> {
    await this.#flush()
    await this.#parts.writer.close()
    await this.#pendingWrite
  }

  async #flush(): Promise<boolean> {
    const bytes = this.#bufferedBytes
    this.#bufferedBytes = 0
    return bytes === 0 || this.#write(this.#buffer.subarray(0, bytes))
  }

  async #write(lines: Buffer): Promise<boolean> {
    const lineCount = this.#bufferedLines
    this.#bufferedLines = 0
    const written = this.#parts.writer.append(lines).then(
      () => {
        this.#isFailing = false
        return true
      },
      (thrown: unknown) => this.#countLost(lineCount, thrown),
    )
    this.#pendingWrite = written
    const isWritten = await written
    if (this.#pendingWrite === written) this.#pendingWrite = undefined
    return isWritten
  }

  #countLost(lost: number, thrown: unknown): false {
    const { counters, logger } = this.#parts
    counters.countLost('log', lost)
    // Logged once per outage: a full disk must not fill the server log, too.
    if (!this.#isFailing)
      logger.error({ err: thrown }, 'cannot write to the audit log; audit events are lost; check --audit-log-path and free disk space')
    this.#isFailing = true
    return false
  }
}

export function legacyLine(facts: EventFacts): string {
  const { user, impersonated } = facts
  const groups = user === undefined || user.groups.length === 0 ? '<none>' : quotedList(user.groups)
  const asGroups = impersonated === undefined ? '<lookup>' : quotedList(impersonated.groups)
  return (
    `${goTime(facts.receivedMs)} AUDIT: id=${quoted(facts.auditId)} stage=${quoted(facts.stage)} ip=${quoted(facts.sourceIps[0] ?? '<unknown>')}` +
    ` method=${quoted(facts.verb)} user=${quoted(user?.name || '<none>')} groups=${quoted(groups)}` +
    ` as=${quoted(impersonated?.name ?? '<self>')} asgroups=${quoted(asGroups)} user-agent=${quoted(facts.userAgent)}` +
    ` namespace=${quoted(facts.namespace || '<none>')} uri=${quoted(facts.uri)} response="${facts.code ?? '<deferred>'}"`
  )
}

const quoted = (value: string): string => JSON.stringify(value)
const quotedList = (values: readonly string[]): string => values.map(quoted).join(',')

/** Go omits trailing zeros of a fraction. */
const goTime = (ms: number): string => new Date(ms).toISOString().replace(/\.?0*Z$/, 'Z')
