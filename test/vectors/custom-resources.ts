// Replays the tables of custom resources: structural schemas, validation, printer columns.

import type { FieldError } from '../../packages/api/src/api/field-error.js'
import type { ApiObject } from '../../packages/api/src/api/object.js'
import { testContext } from '../../packages/api/src/api/rule-context.fixture.js'
import { getOrInsert } from '../../packages/api/src/base/recent-map.js'
import { tableOf } from '../../packages/api/src/resources/apiextensions/custom-resource/additional-printer-columns.js'
import { customKind } from '../../packages/api/src/resources/apiextensions/custom-resource/custom-kind.js'
import type { JsonSchema } from '../../packages/api/src/resources/apiextensions/schema/json-schema.js'
import { validateOpenApiSchema } from '../../packages/api/src/resources/apiextensions/schema/openapi-schema-validation.js'
import { readValue, SchemaReadError } from '../../packages/api/src/schema/json/read.js'
import { printPath } from '../../packages/api/src/schema/path.js'
import { type Difference, differenceBetween, type Members, toNumbers, toServerNumbers } from './cel.js'

const errorTexts = (
  errors: readonly {
    readonly reason?: string
    readonly type?: string
    readonly field: string
    readonly detail?: string
    readonly message?: string
  }[],
): readonly string[] => errors.map(({ reason, type, field }) => `${field}: ${reason ?? type}`).sort()

/** One case of structural-schema.json; Go dumps of values are not compared. */
export function replaySchema(row: Members): Difference {
  if (!('schema' in row)) return undefined
  const schema = toNumbers(row['schema']) as JsonSchema
  const errors = validateOpenApiSchema(schema, 'spec.validation.openAPIV3Schema', { hasStatus: row['statusSubresource'] === true })
  return differenceBetween('errors', errorTexts(errors), errorTexts(row['errors'] as readonly never[]))
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
/** Cached by text, because many cases have the same schema. */
const kinds = new Map<string, ReturnType<typeof kindOf>>()

/** One case of schema-values.json. */
export function replayObject(row: Members): Difference {
  const schema = toNumbers(row['schema']) as JsonSchema
  const kind = getOrInsert(kinds, JSON.stringify(schema), () => kindOf(schema))
  const [version] = kind.versions
  const context = { ...testContext(), version: 'v1' }
  const type = { apiVersion: 'example.com/v1', kind: 'Widget' }
  const read = (sent: unknown) => readValue(version?.schema as never, toServerNumbers(sent))
  try {
    const { value, report } = read(row['object'])
    if ('decodeError' in row) return `read, but should not: ${row['decodeError']}`
    const defaulted = version?.defaults?.(value as ApiObject, context) as ApiObject
    const old = 'oldObject' in row ? (version?.defaults?.(read(row['oldObject']).value as ApiObject, context) as ApiObject) : undefined
    const unknown = report.unknown.map(printPath).sort()
    const { apiVersion: _a, kind: _k, ...fields } = defaulted as ApiObject & { apiVersion?: string; kind?: string }
    const errors: readonly FieldError[] = kind.validate?.(fields as ApiObject, context) ?? []
    const work = kind.expressions?.(fields as ApiObject, old, context, errors)
    let step = work?.next()
    while (step?.done === false) step = work?.next()
    const all = [...errors, ...((step?.value as readonly FieldError[] | undefined) ?? [])]
    return (
      differenceBetween('pruned', withoutTime(toNumbers({ ...type, ...(value as object) })), withoutTime(toNumbers(row['pruned']))) ??
      differenceBetween('defaulted', withoutTime(toNumbers({ ...type, ...defaulted })), withoutTime(toNumbers(row['defaulted']))) ??
      differenceBetween('unknown', unknown, row['unknownFields'] ?? []) ??
      differenceBetween('errors', errorTexts(all), errorTexts((row['errors'] ?? []) as readonly never[]))
    )
  } catch (thrown) {
    if (thrown instanceof SchemaReadError) return 'decodeError' in row ? undefined : `not read: ${thrown.message}`
    throw thrown
  }
}

/** One case of jsonpath-columns.json. */
export function replayColumns(row: Members): Difference {
  const table = tableOf(row['columns'] as never)
  const cells = table.cells(toNumbers(row['object']) as ApiObject, testContext())
  return differenceBetween('cells', toNumbers(cells), toNumbers(row['cells']))
}
