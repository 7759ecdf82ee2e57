// The table of a custom kind: its own columns, or name and age.

import type { Column, ResourceDefinition } from '../../../api/definition.js'
import { ageOf } from '../../../api/human-duration.js'
import { ageColumn, nameColumn } from '../../../api/table-columns.js'
import { sortTexts } from '../../../base/text-order.js'
import { isRecord } from '../../../schema/read.js'
import { readTime } from '../../../schema/scalars.js'
import { writeAny } from '../../../schema/write.js'
import type { CustomResourceColumnDefinition } from '../v1.schema.js'
import { compileJsonPath, PathRoom } from './json-path.js'
import { JsonPathError, LiteralNumber } from './json-path-syntax.js'

interface CustomColumn {
  readonly column: Column
  readonly find: (object: unknown, room: PathRoom) => readonly unknown[]
}

type Table = NonNullable<ResourceDefinition['table']>

const plainTable: Table = {
  columns: [nameColumn, { ...ageColumn, type: 'date' }],
  cells: ({ metadata }, { now }) => [metadata?.name ?? '', ageOf(metadata?.creationTimestamp, now)],
}

/** Columns behind one whose path cannot be read are left out, as in the reference. */
export function tableOf(definitions: readonly CustomResourceColumnDefinition[]): Table {
  if (definitions.length === 0) return plainTable
  const columns: CustomColumn[] = []
  for (const definition of definitions) {
    const column = columnOf(definition)
    if (column === undefined) break
    columns.push(column)
  }
  return {
    asShown: true,
    columns: [nameColumn, ...columns.map(({ column }) => column)],
    cells: (object, { now }) => {
      const room = new PathRoom()
      return [object.metadata?.name ?? '', ...columns.map(({ column, find }) => cellOf(column, find(object, room), now))]
    },
  }
}

function columnOf({
  name = '',
  type,
  format,
  description,
  priority,
  jsonPath = '',
}: CustomResourceColumnDefinition): CustomColumn | undefined {
  const column: Column = {
    name,
    type: type as Column['type'],
    ...(format === undefined ? {} : { format }),
    description: description ?? `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    ...(priority === undefined ? {} : { priority }),
  }
  try {
    return { column, find: compileJsonPath(jsonPath) }
  } catch (thrown) {
    if (thrown instanceof JsonPathError) return undefined
    throw thrown
  }
}

/** Only the first match is shown. */
function cellOf({ type }: Column, found: readonly unknown[], now: number): unknown {
  if (found.length === 0) return null
  const first = found[0] instanceof LiteralNumber && !found[0].isWhole ? found[0].value : found[0]
  switch (type) {
    case 'integer':
      return typeof first === 'bigint' ? first : typeof first === 'number' ? wholeOf(first) : null
    case 'number':
      return typeof first === 'number' || typeof first === 'bigint' ? Number(first) : null
    case 'boolean':
      return typeof first === 'boolean' ? first : null
    case 'date':
      return typeof first === 'string' ? ageIn(first, now) : null
    case 'string':
      return textOf(first)
    default:
      return null
  }
}

const leastInteger = -(1n << 63n)

/** What no integer of 64 bits can hold is shown as the least of them, as machines have it. */
function wholeOf(number: number): number | bigint {
  const whole = Math.trunc(number)
  return Math.abs(whole) < 2 ** 63 ? whole : leastInteger
}

function textOf(value: unknown): string {
  if (value instanceof LiteralNumber) return String(value.value)
  if (value === null) return '<no value>'
  if (typeof value === 'number') return numberText(value)
  return typeof value === 'string' ? value : writeAny(sorted(value))
}

/** With an exponent of two digits at least, from a hundred-thousandth down. */
function numberText(value: number): string {
  if (value === 0 || Math.abs(value) >= 1e-4) return String(value)
  const [digits = '', exponent = ''] = value.toExponential().split('e-')
  return `${digits}e-${exponent.padStart(2, '0')}`
}

/** A time that is not set has no age. */
function ageIn(text: string, now: number): string {
  if (text === '' || text === 'null') return '<unknown>'
  const time = readTime(text, false)
  if (time === undefined) return '<invalid>'
  return Date.parse(time) === zeroTime ? '<unknown>' : ageOf(time, now)
}

const zeroTime = Date.parse('0001-01-01T00:00:00Z')

/** Members in the order of their names. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isRecord(value)) return value
  return Object.fromEntries(sortTexts(Object.keys(value)).map((name) => [name, sorted(value[name])]))
}
