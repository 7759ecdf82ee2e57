// Table of results: workload, floor (cost to compare with), server, ratio, bar (maximum ratio), verdict.

export interface Line {
  readonly workload: string
  readonly floor: string
  readonly server: string
  /** Server divided by floor. */
  readonly ratio?: number
  /** Maximum ratio; undefined: the line is informative and cannot fail. */
  readonly bar?: number
  readonly note?: string
}

const heads = { workload: 'workload', floor: 'floor', server: 'server', ratio: 'ratio', bar: 'bar', verdict: '', note: '' }
type Row = { readonly [key in keyof typeof heads]: string }

const rowOf = ({ workload, floor, server, ratio, bar, note = '' }: Line): Row => ({
  workload,
  floor,
  server,
  ratio: ratio === undefined ? '' : `${formatRatio(ratio)}×`,
  bar: bar === undefined ? '' : `≤ ${formatRatio(bar)}×`,
  verdict: ratio === undefined || bar === undefined ? '' : hasPassed({ ratio, bar }) ? 'PASS' : 'FAIL',
  note,
})

const formatRatio = (value: number): string => (value < 0.1 ? value.toFixed(3) : value.toFixed(2).replace(/0$/, ''))

export const hasPassed = ({ ratio, bar }: Pick<Line, 'ratio' | 'bar'>): boolean => ratio === undefined || bar === undefined || ratio <= bar

export function renderTable(lines: readonly Line[]): string {
  const rows: readonly Row[] = [heads, ...lines.map(rowOf)]
  const keys = Object.keys(heads) as (keyof Row)[]
  const widths = new Map(keys.map((key) => [key, Math.max(...rows.map((row) => row[key].length))]))
  const isNumber = (key: keyof Row): boolean => ['floor', 'server', 'ratio', 'bar'].includes(key)
  const cell = (row: Row, key: keyof Row): string =>
    isNumber(key) ? row[key].padStart(widths.get(key) ?? 0) : row[key].padEnd(widths.get(key) ?? 0)
  return rows
    .map((row) =>
      keys
        .map((key) => cell(row, key))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

export const microseconds = (value: number): string =>
  value >= 10_000 ? `${(value / 1000).toFixed(1)} ms` : `${value.toFixed(value < 100 ? 1 : 0)} µs`
export const milliseconds = (value: number): string => `${value.toFixed(0)} ms`
export const mebibytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(0)} MiB`

/** Prints progress to stderr; the table of results goes to stdout. */
export const printProgress = (text: string): void => void process.stderr.write(`${text}\n`)
