// Records the operations of all clients of a run with their results, and the state that the clients share.

import type { JsonObject, WatchEvent } from '../kit/network/json-object.js'
import type { Record, SeenObject, Version } from './history.js'

export class Recorder {
  readonly records: Record[] = []
  /** Responses outside of the history: failed reads, rejected watches. */
  readonly problemCounts = new Map<string, number>()
  /** Responses that are always wrong. */
  readonly wrongResponses: string[] = []
  /** Newest version of each key that a client saw. */
  readonly newest = new Map<string, Version>()
  /** Seen revisions, for lists and watches of the past. */
  readonly revisions: number[] = []
  isOver = false
  /** Number of acknowledged writes. */
  acknowledged = 0
  #writeIds = 0

  record(record: Record): void {
    this.records.push(record)
    if (record.type === 'write' && record.outcome.kind === 'ok') this.acknowledged += 1
  }

  countProblem(message: string): void {
    this.problemCounts.set(message, (this.problemCounts.get(message) ?? 0) + 1)
  }

  nextWriteId(client: string): string {
    this.#writeIds += 1
    return `${client}.${this.#writeIds}`
  }

  recordVersion(version: Version): Version {
    const before = this.newest.get(version.key)
    if (before === undefined || before.revision < version.revision) this.newest.set(version.key, version)
    this.recordRevision(version.revision)
    return version
  }

  recordRevision(revision: number): void {
    if (revision > (this.revisions.at(-1) ?? 0)) this.revisions.push(revision)
  }
}

export function versionOf({ metadata, data }: JsonObject): Version {
  return {
    key: metadata.name,
    uid: metadata.uid,
    revision: Number(metadata.resourceVersion),
    v: data?.['v'] ?? '',
    p: data?.['p'] ?? '',
    group: metadata.labels?.['group'] ?? '',
  }
}

export function seenOf({ type, object }: WatchEvent, atMs: number): SeenObject {
  const revision = Number(object.metadata.resourceVersion)
  if (type === 'BOOKMARK') return { type, atMs, revision }
  return { type: type as SeenObject['type'], atMs, revision, version: versionOf(object) }
}
