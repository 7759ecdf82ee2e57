// Schedules of five fields, as cron has always read them, and the words that stand for some of them.

interface FieldRange {
  readonly min: number
  readonly max: number
  readonly names?: readonly string[]
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

const ranges: readonly FieldRange[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: months },
  { min: 0, max: 6, names: days },
]

const words = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']
const every = '@every '

/** What a schedule may lean on besides its own grammar. */
export interface ScheduleRules {
  readonly isTimeZone: (name: string) => boolean
  readonly isDuration: (text: string) => boolean
}

/** What is wrong with a schedule; undefined when nothing is. */
export function scheduleProblem(schedule: string, rules: ScheduleRules): string | undefined {
  const zone = /^(?:CRON_)?TZ=(\S*)(.*)$/s.exec(schedule)
  if (zone === null) return bareProblem(schedule, rules)
  const [, name = '', rest = ''] = zone
  if (!rules.isTimeZone(name)) return `provided bad location ${name}: unknown time zone ${name}`
  return bareProblem(rest.trim(), rules)
}

function bareProblem(schedule: string, { isDuration }: ScheduleRules): string | undefined {
  if (schedule.startsWith('@')) return wordProblem(schedule, isDuration)
  const fields = schedule.split(/\s+/).filter((field) => field !== '')
  if (fields.length !== ranges.length) {
    return fields.length === 0 && schedule === ''
      ? 'empty spec string'
      : `expected exactly ${ranges.length} fields, found ${fields.length}: [${fields.join(' ')}]`
  }
  for (const [i, range] of ranges.entries()) {
    for (const part of (fields[i] ?? '').split(',')) {
      const problem = part === '' ? undefined : partProblem(part, range)
      if (problem !== undefined) return problem
    }
  }
  return undefined
}

function wordProblem(word: string, isDuration: ScheduleRules['isDuration']): string | undefined {
  if (words.includes(word)) return undefined
  if (!word.startsWith(every)) return `unrecognized descriptor: ${word}`
  return isDuration(word.slice(every.length)) ? undefined : `failed to parse duration ${word}`
}

/** A part such as `*`, `5`, `mon-fri` or `0-30/10`. */
function partProblem(part: string, range: FieldRange): string | undefined {
  const [span = '', step, ...more] = part.split('/')
  const ends = span.split('-')
  const [first = '', second] = ends
  const isStar = first === '*' || first === '?'
  if (!isStar && ends.length > 2) return `too many hyphens: ${part}`
  if (more.length > 0) return `too many slashes: ${part}`
  const start = isStar ? range.min : numberOf(first, range)
  const last = isStar ? range.max : second === undefined ? start : numberOf(second, range)
  const width = step === undefined ? 1 : numberOf(step)
  for (const [text, value] of [
    [first, start],
    [second ?? '', last],
    [step ?? '', width],
  ] as const) {
    if (value === undefined) return `failed to parse int from ${text}`
  }
  // A step from one number goes on to the end.
  const end = step !== undefined && ends.length === 1 ? range.max : last
  return spanProblem({ part, start: start ?? 0, end: end ?? 0, width: width ?? 0 }, range)
}

interface Span {
  readonly part: string
  readonly start: number
  readonly end: number
  readonly width: number
}

function spanProblem({ part, start, end, width }: Span, { min, max }: FieldRange): string | undefined {
  if (start < min) return `beginning of range (${start}) below minimum (${min}): ${part}`
  if (end > max) return `end of range (${end}) above maximum (${max}): ${part}`
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${part}`
  return width === 0 ? `step of range should be a positive number: ${part}` : undefined
}

function numberOf(text: string, range?: FieldRange): number | undefined {
  const name = range?.names?.indexOf(text.toLowerCase()) ?? -1
  if (name >= 0) return name + (range?.min ?? 0)
  return /^\+?[0-9]+$/.test(text) ? Number(text) : undefined
}
