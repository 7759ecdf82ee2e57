// Metrics as text, in the format that collectors read: families of rows, each row a number or a distribution under the values of its labels.
//
// What is kept between two readings are the bytes of distributions that did not change: of thousands few do. They are bytes at once, row by row:
// to make them of the whole text would hold the event loop for longer than to write it.

import { Histogram } from '../../base/histogram.js'

export const contentType = 'text/plain; version=0.0.4; charset=utf-8'

export type Distribution = Pick<Histogram, 'bounds' | 'counts' | 'sum'> & Partial<Pick<Histogram, 'changes'>>

export interface Row {
  /** In the order of the family's labels. */
  readonly labels: readonly string[]
  readonly value: number | Distribution
}

export interface Family {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  /** Sorted. */
  readonly labels: readonly string[]
  readonly rows: Iterable<Row>
}

interface Written {
  readonly changes: number
  readonly bytes: Uint8Array
}

/** Which values labels of a family may have: by its name and that of the label. */
export type AllowedValues = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>

const shortLength = 8 << 10

/** What stands for a value that is not allowed. */
const unexpected = 'unexpected'

export class Exposition {
  readonly #allowed: AllowedValues
  readonly #written = new WeakMap<Distribution, Written>()

  constructor(allowed: AllowedValues = new Map()) {
    this.#allowed = allowed
  }

  /** Family by family; a step for each row, so that it can be done in pieces. The text is what all that it returns is together. */
  *write(families: Iterable<Family>): Generator<void, Uint8Array[], void> {
    const pieces: Uint8Array[] = []
    // Rows with a number each are short, and many.
    let short = ''
    for (const family of families) {
      short += `# HELP ${family.name} ${escapeHelp(family.help)}\n# TYPE ${family.name} ${family.type}\n`
      const allowed = this.#allowed.get(family.name)
      for (const row of allowed === undefined ? family.rows : allowedRows(family, allowed)) {
        if (typeof row.value === 'number') short += textOf(family, row)
        if (short.length > shortLength || (typeof row.value !== 'number' && short !== '')) {
          pieces.push(Buffer.from(short))
          short = ''
        }
        if (typeof row.value !== 'number') pieces.push(this.#bytesOf(family, row, row.value))
        yield
      }
    }
    pieces.push(Buffer.from(short))
    return pieces
  }

  #bytesOf(family: Family, row: Row, value: Distribution): Uint8Array {
    if (value.changes === undefined) return Buffer.from(textOf(family, row))
    const known = this.#written.get(value)
    if (known?.changes === value.changes) return known.bytes
    const bytes = Buffer.from(textOf(family, row))
    this.#written.set(value, { changes: value.changes, bytes })
    return bytes
  }
}

/** Rows whose labels are the same, once their values are no others than those that are allowed, are one. */
function allowedRows({ labels: names, rows }: Family, allowed: ReadonlyMap<string, ReadonlySet<string>>): Iterable<Row> {
  const merged = new Map<string, { labels: readonly string[]; value: number | Histogram }>()
  for (const row of rows) {
    const labels = row.labels.map((value, i) => (allowed.get(names[i] as string)?.has(value) === false ? unexpected : value))
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
  const inFront = `${name}_bucket{${pairs}${pairs === '' ? '' : ','}le="`
  let text = ''
  let count = 0
  for (let i = 0; i < value.counts.length; i++) {
    count += value.counts[i] as number
    const bound = value.bounds[i]
    text += `${inFront}${bound === undefined ? '+Inf' : boundText(bound)}"} ${count}\n`
  }
  const all = pairs === '' ? '' : `{${pairs}}`
  return `${text}${name}_sum${all} ${value.sum}\n${name}_count${all} ${count}\n`
}

const boundTexts = new Map<number, string>()

/** As the reference writes bounds, because they are labels: with an exponent of two digits below 0.0001 and from a million on. */
function boundText(bound: number): string {
  const known = boundTexts.get(bound)
  if (known !== undefined) return known
  const isPlain = bound === 0 || (Math.abs(bound) >= 1e-4 && Math.abs(bound) < 1e6)
  const text = isPlain ? String(bound) : bound.toExponential().replace(/e([+-])(\d)$/, 'e$10$2')
  boundTexts.set(bound, text)
  return text
}

const escapeHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
const escapeLabel = (text: string): string => (/[\\"\n]/.test(text) ? escapeHelp(text).replaceAll('"', '\\"') : text)
