// The table of a custom kind: its own columns, or name and age.

import type { Column, ResourceDefinition } from '../../../api/definition.js'
import { ageOf } from '../../../api/human-duration.js'
import { ageColumn, nameColumn } from '../../../api/table-columns.js'
import { sortTexts } from '../../../base/text-order.js'
import { isRecord } from '../../../schema/read.js'
import { writeAny } from '../../../schema/write.js'
import type { CustomResourceColumnDefinition } from '../v1.schema.js'
import { compileJsonPath, JsonPathError } from './json-path.js'

interface CustomColumn {
  readonly column: Column
  readonly find: (object: unknown) => readonly unknown[]
}

type Table = NonNullable<ResourceDefinition['table']>

const plainTable: Table = {
  columns: [nameColumn, ageColumn],
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
    columns: [nameColumn, ...columns.map(({ column }) => column)],
    cells: (object, { now }) => [object.metadata?.name ?? '', ...columns.map(({ column, find }) => cellOf(column, find(object), now))],
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
  const [first] = found
  if (found.length === 0) return null
  switch (type) {
    case 'integer':
      return typeof first === 'bigint' ? first : typeof first === 'number' ? Math.trunc(first) : null
    case 'number':
      return typeof first === 'number' || typeof first === 'bigint' ? first : null
    case 'boolean':
      return typeof first === 'boolean' ? first : null
    case 'date':
      return typeof first === 'string' ? ageOrInvalid(first, now) : null
    case 'string':
      return first === null ? '<no value>' : typeof first === 'string' ? first : writeAny(sorted(first))
    default:
      return null
  }
}

const ageOrInvalid = (text: string, now: number): string => (Number.isNaN(Date.parse(text)) ? '<invalid>' : ageOf(text, now))

/** Members in the order of their names. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isRecord(value)) return value
  return Object.fromEntries(sortTexts(Object.keys(value)).map((name) => [name, sorted(value[name])]))
}
