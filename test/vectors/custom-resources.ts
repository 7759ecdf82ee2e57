// Replays the tables about custom kinds: schemas of definitions, values against schemas, and columns.

import type { FieldError } from '../../src/api/field-error.js'
import type { ApiObject } from '../../src/api/object.js'
import { testContext } from '../../src/api/rule-context.fixture.js'
import { getOrInsert } from '../../src/base/get-or-insert.js'
import { customKind } from '../../src/resources/apiextensions/custom/custom-kind.js'
import { tableOf } from '../../src/resources/apiextensions/custom/custom-table.js'
import type { JsonSchema } from '../../src/resources/apiextensions/json-schema.js'
import { validateOpenApiSchema } from '../../src/resources/apiextensions/openapi-schema.js'
import { printPath } from '../../src/schema/path.js'
import { readValue, SchemaReadError } from '../../src/schema/read.js'
import { type Difference, type Members, plainNumbers, same } from './cel.js'

const told = (
  errors: readonly {
    readonly reason?: string
    readonly type?: string
    readonly field: string
    readonly detail?: string
    readonly message?: string
  }[],
): readonly string[] => errors.map(({ reason, type, field }) => `${field}: ${reason ?? type}`).sort()

/** One case of structural-schema.json; texts that dump values of the reference's language are not compared. */
export function replaySchema(row: Members): Difference {
  if (!('schema' in row)) return undefined
  const schema = plainNumbers(row['schema']) as JsonSchema
  const errors = validateOpenApiSchema(schema, 'spec.validation.openAPIV3Schema', { hasStatus: row['statusSubresource'] === true })
  return same('errors', told(errors), told(row['errors'] as readonly never[]))
}

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  )
}

const withoutTime = (object: unknown): unknown => {
  const { metadata, ...rest } = object as { metadata?: Members }
  const { creationTimestamp: _, ...meta } = metadata ?? {}
  return sorted({ ...rest, metadata: meta })
}

const kindOf = (schema: JsonSchema) =>
  customKind({
    metadata: { name: 'widgets.example.com', generation: 1 },
    spec: {
      group: 'example.com',
      names: { plural: 'widgets', kind: 'Widget' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema as never } }],
    },
  })
/** By its text: a kind serves many objects, and many cases have one schema. */
const kinds = new Map<string, ReturnType<typeof kindOf>>()

/** One case of schema-values.json. */
export function replayObject(row: Members): Difference {
  const schema = plainNumbers(row['schema']) as JsonSchema
  const kind = getOrInsert(kinds, JSON.stringify(schema), () => kindOf(schema))
  const [version] = kind.versions
  const context = { ...testContext(), version: 'v1' }
  const type = { apiVersion: 'example.com/v1', kind: 'Widget' }
  const read = (sent: unknown) => readValue(version?.schema as never, plainNumbers(sent))
  try {
    const { value, report } = read(row['object'])
    if ('decodeError' in row) return `read, but should not: ${row['decodeError']}`
    const filled = version?.defaults?.(value as ApiObject, context) as ApiObject
    const old = 'oldObject' in row ? (version?.defaults?.(read(row['oldObject']).value as ApiObject, context) as ApiObject) : undefined
    const unknown = report.unknown.map(printPath).sort()
    const { apiVersion: _a, kind: _k, ...own } = filled as ApiObject & { apiVersion?: string; kind?: string }
    const errors: readonly FieldError[] = kind.validate?.(own as ApiObject, context) ?? []
    const work = kind.expressions?.(own as ApiObject, old, context, errors)
    let step = work?.next()
    while (step?.done === false) step = work?.next()
    const all = [...errors, ...((step?.value as readonly FieldError[] | undefined) ?? [])]
    return (
      same('pruned', withoutTime({ ...type, ...(value as object) }), withoutTime(plainNumbers(row['pruned']))) ??
      same('defaulted', withoutTime({ ...type, ...filled }), withoutTime(plainNumbers(row['defaulted']))) ??
      same('unknown', unknown, row['unknownFields'] ?? []) ??
      same('errors', told(all), told((row['errors'] ?? []) as readonly never[]))
    )
  } catch (thrown) {
    if (thrown instanceof SchemaReadError) return 'decodeError' in row ? undefined : `not read: ${thrown.message}`
    throw thrown
  }
}

/** One case of jsonpath-columns.json. */
export function replayColumns(row: Members): Difference {
  const table = tableOf(row['columns'] as never)
  const cells = table.cells(plainNumbers(row['object']) as ApiObject, testContext())
  return same('cells', plainNumbers(cells), plainNumbers(row['cells']))
}
