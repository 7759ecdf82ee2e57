// Objects as rows of a table: the columns of their kind, a cell for each, and behind every row as much of the object as was asked for.

import { badRequest } from '../api/api-error.js'
import type { Resource } from '../api/catalog.js'
import type { Column, ResourceDefinition, RowCondition, RuleContext } from '../api/definition.js'
import { type ListMeta, listMeta } from '../api/meta.schema.js'
import type { ApiObject } from '../api/object.js'
import { nameColumn } from '../api/table-columns.js'
import { writeAny, writeText, writeValue } from '../schema/write.js'
import { type MetadataForm, metadataFormOf, partialMetadataJson } from './partial-metadata.js'

export type IncludeObject = 'None' | 'Metadata' | 'Object'

const isIncludeObject = (text: string): text is IncludeObject => text === 'None' || text === 'Metadata' || text === 'Object'

/** Whether {@link parseIncludeObject} will take it. */
export const knowsIncludeObject = (text: string | undefined): boolean => !text || isIncludeObject(text)

/** The query parameter `includeObject`. */
export function parseIncludeObject(text: string | undefined): IncludeObject {
  if (text === undefined || text === '') return 'Metadata'
  if (isIncludeObject(text)) return text
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
  readonly definition?: Pick<ResourceDefinition, 'fieldAnnotations'>
  readonly toStored?: Resource['toStored']
  readonly table?: ResourceDefinition['table'] | undefined
}

/** How the objects of a kind become rows. */
export function tableFormOf(source: TableSource, wish: TableWish): TableForm {
  const own = source.table
  // Columns are the kind's, whichever of its versions was asked for: cells are read from the stored form, unless they are the version's own.
  const same = (object: ApiObject): ApiObject => object
  const toStored = own?.asShown ? same : (source.toStored ?? same)
  return {
    columns: own?.columns ?? defaultColumns,
    cells: own === undefined ? defaultCells : (object) => own.cells(toStored(object), wish.rules),
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

function rowObjectWriter({ kind, apiVersion, schema, ...source }: TableSource, wish: TableWish): TableForm['rowObject'] {
  const form = metadataFormOf(source, wish)
  switch (wish.includeObject) {
    case 'None':
      return () => 'null'
    case 'Metadata':
      return (object) => partialMetadataJson(form, object)
    case 'Object':
      return (object) => writeValue(schema, { ...object, kind, apiVersion })
  }
}

export function tableRow(form: TableForm, object: ApiObject, writeCells: (cells: readonly unknown[]) => string = writeAny): string {
  const conditions = form.conditions?.(object) ?? []
  const marks = conditions.length === 0 ? '' : `"conditions":${writeAny(conditions)},`
  return `{"cells":${writeCells(form.cells(object))},${marks}"object":${form.rowObject(object)}}`
}

const columnJson = ({ name, type, format = '', description = '', priority = 0 }: Column): string =>
  `{"name":${writeText(name)},"type":"${type}","format":${writeText(format)},"description":${writeText(description)},"priority":${priority}}`

export interface TableContent {
  readonly metadata: ListMeta
  readonly objects: Iterable<ApiObject>
  /** The later events of a watch leave them out: the client has them already. */
  readonly withoutColumns?: boolean
}

/** A table up to its rows. */
export function tableHead(form: TableForm, { metadata, withoutColumns }: Omit<TableContent, 'objects'>): string {
  const columns = withoutColumns ? 'null' : `[${form.columns.map(columnJson).join(',')}]`
  const head = `{"kind":"Table","apiVersion":${writeText(form.apiVersion)},"metadata":${writeValue(listMeta, metadata)}`
  return `${head},"columnDefinitions":${columns},"rows":`
}

/** The JSON of a table. */
export function tableJson(form: TableForm, content: TableContent): string {
  const rows = Array.from(content.objects, (object) => tableRow(form, object))
  return `${tableHead(form, content)}${rows.length === 0 ? form.noRows : `[${rows.join(',')}]`}}`
}

/** The JSON of a table with one row: an object that was read, or what a watch tells of it. */
export function tableJsonOfObject(form: TableForm, object: ApiObject, options: { readonly withoutColumns?: boolean } = {}): string {
  const { resourceVersion } = object.metadata ?? {}
  const metadata = resourceVersion === undefined ? {} : { resourceVersion }
  return tableJson(form, { metadata, objects: [object], ...options })
}
