// Table representation: column definitions, cells, and row objects as `includeObject` requests.

import { badRequest } from '../../api/api-error.js'
import type { Resource } from '../../api/catalog/resource.js'
import { nameColumn } from '../../api/definition/printer-columns.js'
import type { Column, ResourceDefinition, RowCondition, RuleContext } from '../../api/definition/resource-definition.js'
import { type ListMeta, listMeta } from '../../api/meta.schema.js'
import type { ApiObject } from '../../api/object.js'
import { writeAny, writeText, writeValue } from '../../schema/json/write.js'
import { type PartialMetadataOptions, partialMetadataJson, partialMetadataOptionsOf } from '../partial-metadata.js'

export type IncludeObject = 'None' | 'Metadata' | 'Object'

const isIncludeObject = (text: string): text is IncludeObject => text === 'None' || text === 'Metadata' || text === 'Object'

export const isValidIncludeObject = (text: string | undefined): boolean => !text || isIncludeObject(text)

export function parseIncludeObject(text: string | undefined): IncludeObject {
  if (text === undefined || text === '') return 'Metadata'
  if (isIncludeObject(text)) return text
  const value = JSON.stringify(text)
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${value}: must be 'Metadata', 'Object', 'None', or empty`,
  )
}

export interface TableEncoding {
  readonly columns: readonly Column[]
  readonly cells: (object: ApiObject) => readonly unknown[]
  readonly conditions?: ((object: ApiObject) => readonly RowCondition[]) | undefined
  readonly rowObject: (object: ApiObject) => string
  readonly apiVersion: string
  readonly noRows: '[]' | 'null'
}

export interface TableOptions extends PartialMetadataOptions {
  readonly includeObject: IncludeObject
  readonly rules: RuleContext
}

export interface TableSource extends Pick<Resource, 'kind' | 'apiVersion' | 'schema'> {
  readonly definition?: Pick<ResourceDefinition, 'fieldAnnotations'>
  readonly toStored?: Resource['toStored']
  readonly table?: ResourceDefinition['table'] | undefined
}

export function tableEncodingOf(source: TableSource, options: TableOptions): TableEncoding {
  const { table } = source
  // Cells are computed from the stored version, unless the columns are defined for the requested version, as in CRDs.
  const identity = (object: ApiObject): ApiObject => object
  const toStored = table?.fromRequestedVersion ? identity : (source.toStored ?? identity)
  return {
    columns: table?.columns ?? defaultColumns,
    cells: table === undefined ? defaultCells : (object) => table.cells(toStored(object), options.rules),
    conditions: table?.conditions,
    rowObject: rowObjectWriter(source, options),
    apiVersion: `${options.identity.group({ stem: 'meta' })}/${options.version}`,
    noRows: table === undefined ? 'null' : '[]',
  }
}

const defaultColumns: readonly Column[] = [
  nameColumn,
  { name: 'Created At', type: 'date', description: 'Time at which the server created the object.' },
]

const defaultCells = ({ metadata }: ApiObject): readonly unknown[] => [
  metadata?.name ?? '',
  metadata?.creationTimestamp ?? '0001-01-01T00:00:00Z',
]

function rowObjectWriter({ kind, apiVersion, schema, ...source }: TableSource, options: TableOptions): TableEncoding['rowObject'] {
  const metadataOptions = partialMetadataOptionsOf(source, options)
  switch (options.includeObject) {
    case 'None':
      return () => 'null'
    case 'Metadata':
      return (object) => partialMetadataJson(metadataOptions, object)
    case 'Object':
      return (object) => writeValue(schema, { ...object, kind, apiVersion })
  }
}

export function tableRow(encoding: TableEncoding, object: ApiObject, writeCells: (cells: readonly unknown[]) => string = writeAny): string {
  const conditions = encoding.conditions?.(object) ?? []
  const conditionsJson = conditions.length === 0 ? '' : `"conditions":${writeAny(conditions)},`
  return `{"cells":${writeCells(encoding.cells(object))},${conditionsJson}"object":${encoding.rowObject(object)}}`
}

const columnJson = ({ name, type, format = '', description = '', priority = 0 }: Column): string =>
  `{"name":${writeText(name)},"type":"${type}","format":${writeText(format)},"description":${writeText(description)},"priority":${priority}}`

interface TableContent {
  readonly metadata: ListMeta
  readonly objects: Iterable<ApiObject>
  /** True for watch events after the first, which have no column definitions. */
  readonly withoutColumns?: boolean
}

export function tableHead(encoding: TableEncoding, { metadata, withoutColumns }: Omit<TableContent, 'objects'>): string {
  const columns = withoutColumns ? 'null' : `[${encoding.columns.map(columnJson).join(',')}]`
  const head = `{"kind":"Table","apiVersion":${writeText(encoding.apiVersion)},"metadata":${writeValue(listMeta, metadata)}`
  return `${head},"columnDefinitions":${columns},"rows":`
}

export function tableJson(encoding: TableEncoding, content: TableContent): string {
  const rows = Array.from(content.objects, (object) => tableRow(encoding, object))
  return `${tableHead(encoding, content)}${rows.length === 0 ? encoding.noRows : `[${rows.join(',')}]`}}`
}

export function tableJsonOfObject(encoding: TableEncoding, object: ApiObject, options: { readonly withoutColumns?: boolean } = {}): string {
  const { resourceVersion } = object.metadata ?? {}
  const metadata = resourceVersion === undefined ? {} : { resourceVersion }
  return tableJson(encoding, { metadata, objects: [object], ...options })
}
