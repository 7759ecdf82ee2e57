// Violations, each with the records that show it.

import type { History, Record, Version, WriteOutcome } from './history.js'

export interface Violation {
  readonly rule: string
  readonly text: string
  /** Records that show the violation, one line each. */
  readonly evidence: readonly string[]
}

interface Location {
  readonly keys: readonly string[]
  readonly revision: number
  /** Record that the violation is about, always shown. */
  readonly record?: Record
}

const maxPerRule = 5
const linesAround = 8

export class Findings {
  readonly violations: Violation[] = []
  readonly counts = new Map<string, number>()
  readonly #history: History

  constructor(history: History) {
    this.#history = history
  }

  add(rule: string, text: string, location: Location): void {
    const count = (this.counts.get(rule) ?? 0) + 1
    this.counts.set(rule, count)
    // One cause has many effects; the first few are enough.
    if (count <= maxPerRule) this.violations.push({ rule, text, evidence: evidenceOf(this.#history, location) })
  }
}

/** Lines about the keys, nearest to the revision. */
function evidenceOf({ records }: History, { keys, revision, record }: Location): readonly string[] {
  const about = record === undefined ? [] : [`about: ${renderRecord(record, keys, revision)}`]
  const lines = records.flatMap((each) => {
    if (each === record) return []
    const distance = distanceOf(each, keys, revision)
    return distance === undefined ? [] : [{ distance, startMs: each.startMs, line: renderRecord(each, keys, revision) }]
  })
  const nearest = lines.sort((a, b) => a.distance - b.distance).slice(0, linesAround)
  return [...about, ...nearest.sort((a, b) => a.startMs - b.startMs).map(({ line }) => line)]
}

/** Distance of a record to a revision of a key, in revisions; undefined if it does not concern the key. */
function distanceOf(record: Record, keys: readonly string[], revision: number): number | undefined {
  const distances = revisionsIn(record, keys).map((each) => Math.abs(each - revision))
  return distances.length === 0 ? undefined : Math.min(...distances)
}

function revisionsIn(record: Record, keys: readonly string[]): readonly number[] {
  const revisionsOf = (versions: readonly (Version | undefined)[]): readonly number[] =>
    versions.flatMap((version) => (version !== undefined && keys.includes(version.key) ? [version.revision] : []))
  switch (record.type) {
    case 'write':
      if (!keys.includes(record.key)) return []
      return [
        ...(record.outcome.kind === 'ok' ? revisionsOf([record.outcome.version]) : []),
        ...(record.expectRevision ? [record.expectRevision] : []),
      ]
    case 'read':
      return revisionsOf([record.found])
    case 'list':
      return revisionsOf(record.pages.flatMap(({ versions }) => versions))
    case 'watch':
      return record.seen.flatMap(({ version, revision }) => (version !== undefined && keys.includes(version.key) ? [revision] : []))
  }
}

const seconds = (ms: number): string => (ms / 1000).toFixed(3)
const renderVersion = (version: Version | undefined): string =>
  version === undefined ? 'nothing' : `${version.key}@${version.revision} v=${version.v}${version.p === '' ? '' : ` p=${version.p}`}`

/** One record as a line, with its content about the keys. */
function renderRecord(record: Record, keys: readonly string[], revision: number): string {
  const head = `${seconds(record.startMs)}–${seconds(record.endMs)} ${record.client} at ${record.server}`
  const concerns = (version: Version | undefined): boolean => version !== undefined && keys.includes(version.key)
  switch (record.type) {
    case 'write': {
      const { verb, key, writeId, expectRevision, expectV, outcome } = record
      const condition = expectRevision === undefined ? (expectV === undefined ? '' : ` if v=${expectV}`) : ` if @${expectRevision}`
      return `${head}: ${verb} ${key} ${writeId}${condition} → ${renderOutcome(outcome)}`
    }
    case 'read':
      return `${head}: get ${record.key} (${freshnessOf(record.freshness)}) → ${renderVersion(record.found)}`
    case 'list': {
      const pages = record.pages.map(({ revision: at, versions }) => `@${at}[${versions.filter(concerns).map(renderVersion).join(', ')}]`)
      return `${head}: list (${freshnessOf(record.freshness)}${record.group ? `, group ${record.group}` : ''}) → ${pages.join(' ')}`
    }
    case 'watch': {
      const near = record.seen.filter(({ version, type }) => type === 'BOOKMARK' || concerns(version))
      const nearest = [...near].sort((a, b) => Math.abs(a.revision - revision) - Math.abs(b.revision - revision)).slice(0, 5)
      const events = near
        .filter((each) => nearest.includes(each))
        .map(({ type, revision: at, version }) => `${type}@${at} ${renderVersion(version)}`)
      return `${head}: watch from ${record.from}${record.group ? `, group ${record.group}` : ''} → ${record.seen.length} events, … ${events.join(', ')} …, ${record.ending}`
    }
  }
}

function renderOutcome(outcome: WriteOutcome): string {
  if (outcome.kind === 'unknown') return `unknown (${outcome.why})`
  if (outcome.kind === 'refused') return `rejected, ${outcome.status} ${outcome.reason}`
  return outcome.version === undefined ? `ok, uid ${outcome.uid}` : `ok, ${renderVersion(outcome.version)}`
}

function freshnessOf(freshness: string | object): string {
  return typeof freshness === 'string' ? freshness : JSON.stringify(freshness)
}
