// Printer columns of a custom resource: additionalPrinterColumns of the CRD, or name and age.

import { ageColumn, nameColumn } from '../../../api/definition/printer-columns.js'
import type { Column, ResourceDefinition } from '../../../api/definition/resource-definition.js'
import { ageOf } from '../../../api/human-duration.js'
import { compileJsonPath, PathBudget } from '../../../api/json-path/json-path.js'
import { JsonPathError, LiteralNumber } from '../../../api/json-path/json-path-syntax.js'
import { floatText } from '../../../base/text/float-text.js'
import { sortTexts } from '../../../base/text-order.js'
import { isRecord } from '../../../schema/json/read.js'
import { writeAny } from '../../../schema/json/write.js'
import { readTime } from '../../../schema/scalars.js'
import type { CustomResourceColumnDefinition } from '../v1.schema.js'

interface CustomColumn {
  readonly column: Column
  readonly find: (object: unknown, budget: PathBudget) => readonly unknown[]
}

type Table = NonNullable<ResourceDefinition['table']>

const defaultTable: Table = {
  columns: [nameColumn, { ...ageColumn, type: 'date' }],
  cells: ({ metadata }, { now }) => [metadata?.name ?? '', ageOf(metadata?.creationTimestamp, now)],
}

/** Drops a column with an invalid JSONPath and all columns after it, as in kube-apiserver. */
export function tableOf(definitions: readonly CustomResourceColumnDefinition[]): Table {
  if (definitions.length === 0) return defaultTable
  const columns: CustomColumn[] = []
  for (const definition of definitions) {
    const column = columnOf(definition)
    if (column === undefined) break
    columns.push(column)
  }
  return {
    fromRequestedVersion: true,
    columns: [nameColumn, ...columns.map(({ column }) => column)],
    cells: (object, { now }) => {
      const budget = new PathBudget()
      return [object.metadata?.name ?? '', ...columns.map(({ column, find }) => cellOf(column, find(object, budget), now))]
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

/** Shows the first match only. */
function cellOf({ type }: Column, found: readonly unknown[], now: number): unknown {
  if (found.length === 0) return null
  const first = found[0] instanceof LiteralNumber && !found[0].isInteger ? found[0].value : found[0]
  switch (type) {
    case 'integer':
      return typeof first === 'bigint' ? first : typeof first === 'number' ? integerOf(first) : null
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

const minInteger = -(1n << 63n)

/** Shows numbers beyond int64 as the minimum of int64, as in kube-apiserver. */
function integerOf(number: number): number | bigint {
  const whole = Math.trunc(number)
  return Math.abs(whole) < 2 ** 63 ? whole : minInteger
}

function textOf(value: unknown): string {
  if (value instanceof LiteralNumber) return String(value.value)
  if (value === null) return '<no value>'
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : floatText(value)
  return typeof value === 'string' ? value : writeAny(withSortedMembers(value))
}

function ageIn(text: string, now: number): string {
  if (text === '' || text === 'null') return '<unknown>'
  const time = readTime(text, false)
  if (time === undefined) return '<invalid>'
  return Date.parse(time) === zeroTime ? '<unknown>' : ageOf(time, now)
}

const zeroTime = Date.parse('0001-01-01T00:00:00Z')

function withSortedMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedMembers)
  if (!isRecord(value)) return value
  return Object.fromEntries(sortTexts(Object.keys(value)).map((name) => [name, withSortedMembers(value[name])]))
}
