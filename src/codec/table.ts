// Objects as rows of a table: the columns of their kind, a cell for each, and behind every row as much of the object as was asked for.

import { badRequest } from '../api/api-error.js'
import type { Resource } from '../api/catalog.js'
import type { Column, ResourceDefinition, RowCondition, RuleContext } from '../api/definition.js'
import { type ListMeta, listMeta } from '../api/meta.schema.js'
import type { ApiObject } from '../api/object.js'
import { nameColumn } from '../api/table-columns.js'
import { writeAny, writeText, writeValue } from '../schema/write.js'
import { jsonPieces, type ListText } from './list-text.js'
import { type MetadataForm, partialMetadataJson } from './partial-metadata.js'

export type IncludeObject = 'None' | 'Metadata' | 'Object'

/** The query parameter `includeObject`. */
export function parseIncludeObject(text: string | undefined): IncludeObject {
  if (text === undefined || text === '') return 'Metadata'
  if (text === 'None' || text === 'Metadata' || text === 'Object') return text
  const value = JSON.stringify(text)
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${value}: must be 'Metadata', 'Object', 'None', or empty`,
  )
}

export interface TableForm {
  readonly columns: readonly Column[]
  readonly cells: (object: ApiObject) => readonly unknown[]
  /** Marks rows of objects that have come to an end. */
  readonly conditions?: ((object: ApiObject) => readonly RowCondition[]) | undefined
  /** The text of the object behind a row. */
  readonly rowObject: (object: ApiObject) => string
  readonly apiVersion: string
  /** A table without rows has null in their place where the kind has no columns of its own. */
  readonly noRows: '[]' | 'null'
}

export interface TableWish extends MetadataForm {
  readonly includeObject: IncludeObject
  readonly rules: RuleContext
}

/** A kind in a version, with its columns where it has its own. */
export interface TableSource extends Pick<Resource, 'kind' | 'apiVersion' | 'schema'> {
  readonly table?: ResourceDefinition['table'] | undefined
}

/** How the objects of a kind become rows. */
export function tableFormOf(source: TableSource, wish: TableWish): TableForm {
  const own = source.table
  return {
    columns: own?.columns ?? defaultColumns,
    cells: own === undefined ? defaultCells : (object) => own.cells(object, wish.rules),
    conditions: own?.conditions,
    rowObject: rowObjectWriter(source, wish),
    apiVersion: `${wish.identity.group({ stem: 'meta' })}/${wish.version}`,
    noRows: own === undefined ? 'null' : '[]',
  }
}

const defaultColumns: readonly Column[] = [
  nameColumn,
  { name: 'Created At', type: 'date', description: 'When the object was created, as the server saw it.' },
]

const defaultCells = ({ metadata }: ApiObject): readonly unknown[] => [
  metadata?.name ?? '',
  metadata?.creationTimestamp ?? '0001-01-01T00:00:00Z',
]

function rowObjectWriter({ kind, apiVersion, schema }: TableSource, wish: TableWish): TableForm['rowObject'] {
  switch (wish.includeObject) {
    case 'None':
      return () => 'null'
    case 'Metadata':
      return (object) => partialMetadataJson(wish, object)
    case 'Object':
      return (object) => writeValue(schema, { ...object, kind, apiVersion })
  }
}

export function tableRow(form: TableForm, object: ApiObject): string {
  const conditions = form.conditions?.(object) ?? []
  const marks = conditions.length === 0 ? '' : `"conditions":${writeAny(conditions)},`
  return `{"cells":${writeAny(form.cells(object))},${marks}"object":${form.rowObject(object)}}`
}

const columnJson = ({ name, type, format = '', description = '', priority = 0 }: Column): string =>
  `{"name":${writeText(name)},"type":"${type}","format":${writeText(format)},"description":${writeText(description)},"priority":${priority}}`

export interface TableContent {
  readonly metadata: ListMeta
  readonly objects: Iterable<ApiObject>
  /** The later events of a watch leave them out: the client has them already. */
  readonly withoutColumns?: boolean
}

/** A table: a page of a list. */
export function tableText(form: TableForm, content: TableContent): ListText {
  const columns = content.withoutColumns ? 'null' : `[${form.columns.map(columnJson).join(',')}]`
  const head = `{"kind":"Table","apiVersion":${writeText(form.apiVersion)},"metadata":${writeValue(listMeta, content.metadata)}`
  return {
    head: `${head},"columnDefinitions":${columns},"rows":`,
    items: rowsOf(form, content.objects),
    none: form.noRows,
    end: '}',
    member: 'rows',
  }
}

function* rowsOf(form: TableForm, objects: Iterable<ApiObject>): Generator<string> {
  for (const object of objects) yield tableRow(form, object)
}

export const tableJson = (form: TableForm, content: TableContent): string => [...jsonPieces(tableText(form, content))].join('')

/** The JSON of a table with one row: an object that was read, or what a watch tells of it. */
export function tableJsonOfObject(form: TableForm, object: ApiObject, options: { readonly withoutColumns?: boolean } = {}): string {
  const { resourceVersion } = object.metadata ?? {}
  const metadata = resourceVersion === undefined ? {} : { resourceVersion }
  return tableJson(form, { metadata, objects: [object], ...options })
}
