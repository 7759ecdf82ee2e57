// The Prometheus text exposition format. The bytes of a histogram are cached, because few of thousands change between two scrapes.
// Rows are encoded one by one, because encoding the whole text would block the event loop.

import { Histogram } from '@cluster-apiserver/api/base/histogram.js'
import type { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'

export const contentType = 'text/plain; version=0.0.4; charset=utf-8'

type Distribution = Pick<Histogram, 'bounds' | 'counts' | 'sum'> & Partial<Pick<Histogram, 'changes'>>

export interface Row {
  readonly labels: readonly string[]
  readonly value: number | Distribution
}

export interface Family {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
  readonly rows: Iterable<Row>
}

interface CachedBytes {
  readonly changes: number
  readonly bytes: Uint8Array
}

/** Allowed label values by metric and label (--allow-metric-labels). */
export type AllowedValues = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>

const maxJoinedCharacters = 8 << 10

/** Replaces label values that are not allowed, as in kube-apiserver. */
const unexpectedValue = 'unexpected'

export class Exposition {
  readonly #allowed: AllowedValues
  readonly #cache = new WeakMap<Distribution, CachedBytes>()

  constructor(allowed: AllowedValues = new Map()) {
    this.#allowed = allowed
  }

  async write(families: Iterable<Family>, budget: TurnBudget): Promise<readonly Uint8Array[]> {
    const chunks: Uint8Array[] = []
    let pending = ''
    for (const family of families) {
      pending += `# HELP ${family.name} ${escapeHelp(family.help)}\n# TYPE ${family.name} ${family.type}\n`
      const allowed = this.#allowed.get(family.name)
      for (const row of allowed === undefined ? family.rows : allowedRows(family, allowed)) {
        if (typeof row.value === 'number') pending += textOf(family, row)
        if (pending.length > maxJoinedCharacters || (typeof row.value !== 'number' && pending !== '')) {
          chunks.push(Buffer.from(pending))
          pending = ''
        }
        if (typeof row.value !== 'number') chunks.push(this.#bytesOf(family, row, row.value))
        if (budget.isSpent) await budget.nextTurn()
      }
    }
    chunks.push(Buffer.from(pending))
    return chunks
  }

  #bytesOf(family: Family, row: Row, value: Distribution): Uint8Array {
    if (value.changes === undefined) return Buffer.from(textOf(family, row))
    const known = this.#cache.get(value)
    if (known?.changes === value.changes) return known.bytes
    const bytes = Buffer.from(textOf(family, row))
    this.#cache.set(value, { changes: value.changes, bytes })
    return bytes
  }
}

/** Replaces label values that are not allowed, and adds up rows that become equal. */
function allowedRows({ labels: names, rows }: Family, allowed: ReadonlyMap<string, ReadonlySet<string>>): Iterable<Row> {
  const merged = new Map<string, { labels: readonly string[]; value: number | Histogram }>()
  for (const row of rows) {
    const labels = row.labels.map((value, i) => (allowed.get(names[i] as string)?.has(value) === false ? unexpectedValue : value))
    const key = labels.join('\0')
    const known = merged.get(key)
    if (typeof row.value === 'number') {
      const before = typeof known?.value === 'number' ? known.value : 0
      merged.set(key, { labels, value: before + row.value })
    } else {
      const sum = known !== undefined && typeof known.value !== 'number' ? known.value : new Histogram(row.value.bounds)
      sum.addAll(row.value)
      merged.set(key, { labels, value: sum })
    }
  }
  return merged.values()
}

function textOf({ name, labels: names }: Family, { labels, value }: Row): string {
  const pairs = labels.map((label, i) => `${names[i]}="${escapeLabel(label)}"`).join(',')
  if (typeof value === 'number') return `${name}${pairs === '' ? '' : `{${pairs}}`} ${value}\n`
  const prefix = `${name}_bucket{${pairs}${pairs === '' ? '' : ','}le="`
  let text = ''
  let count = 0
  for (let i = 0; i < value.counts.length; i++) {
    count += value.counts[i] as number
    const bound = value.bounds[i]
    text += `${prefix}${bound === undefined ? '+Inf' : boundText(bound)}"} ${count}\n`
  }
  const braced = pairs === '' ? '' : `{${pairs}}`
  return `${text}${name}_sum${braced} ${value.sum}\n${name}_count${braced} ${count}\n`
}

const boundTexts = new Map<number, string>()

/** Formats a bound as Go does: with a two-digit exponent below 0.0001 and from a million on. */
function boundText(bound: number): string {
  const known = boundTexts.get(bound)
  if (known !== undefined) return known
  const isDecimal = bound === 0 || (Math.abs(bound) >= 1e-4 && Math.abs(bound) < 1e6)
  const text = isDecimal ? String(bound) : bound.toExponential().replace(/e([+-])(\d)$/, 'e$10$2')
  boundTexts.set(bound, text)
  return text
}

const escapeHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
const escapeLabel = (text: string): string => (/[\\"\n]/.test(text) ? escapeHelp(text).replaceAll('"', '\\"') : text)
