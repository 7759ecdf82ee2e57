// Where all clients of a run write down what they did and saw, and what they know in common.

import type { Wire, WireEvent } from '../kit/wire.js'
import type { Record, Seen, Version } from './history.js'

export class Recorder {
  readonly records: Record[] = []
  /** Answers that are no part of the history: failures of reads, refusals of watches. */
  readonly troubles = new Map<string, number>()
  /** Answers that are wrong whatever else happened. */
  readonly wrongs: string[] = []
  /** The newest version of each key that anybody saw. */
  readonly newest = new Map<string, Version>()
  /** Revisions that were seen, for lists and watches of the past. */
  readonly revisions: number[] = []
  isOver = false
  /** Writes that were acknowledged so far. */
  acknowledged = 0
  #marks = 0

  note(record: Record): void {
    this.records.push(record)
    if (record.what === 'write' && record.outcome.kind === 'ok') this.acknowledged += 1
  }

  trouble(what: string): void {
    this.troubles.set(what, (this.troubles.get(what) ?? 0) + 1)
  }

  nextMark(client: string): string {
    this.#marks += 1
    return `${client}.${this.#marks}`
  }

  saw(version: Version): Version {
    const before = this.newest.get(version.key)
    if (before === undefined || before.revision < version.revision) this.newest.set(version.key, version)
    this.passed(version.revision)
    return version
  }

  passed(revision: number): void {
    if (revision > (this.revisions.at(-1) ?? 0)) this.revisions.push(revision)
  }
}

export function versionOf({ metadata, data }: Wire): Version {
  return {
    key: metadata.name,
    uid: metadata.uid,
    revision: Number(metadata.resourceVersion),
    v: data?.['v'] ?? '',
    p: data?.['p'] ?? '',
    group: metadata.labels?.['group'] ?? '',
  }
}

export function seenOf({ type, object }: WireEvent, atMs: number): Seen {
  const revision = Number(object.metadata.resourceVersion)
  if (type === 'BOOKMARK') return { type, atMs, revision }
  return { type: type as Seen['type'], atMs, revision, version: versionOf(object) }
}
