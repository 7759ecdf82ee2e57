// Cached table rows, with placeholders for ages that are filled in when a row is sent.

import type { Resource } from '../../api/catalog/resource.js'
import { deferAges, humanDuration, splitAtAges } from '../../api/human-duration.js'
import type { ListMeta } from '../../api/meta.schema.js'
import type { ApiObject } from '../../api/object.js'
import { anonymous } from '../../api/user.js'
import { encodeText } from '../../base/text/encode-text.js'
import { writeAny, writeText } from '../../schema/json/write.js'
import { comma, type EncodedItems, type ListEncoding } from '../item-encoding.js'
import { type TableEncoding, type TableOptions, tableEncodingOf, tableHead, tableRow } from './table.js'

export interface TableRowEncoding extends ListEncoding {
  readonly table: TableEncoding
}

const encodings = new WeakMap<Resource, Map<string, TableRowEncoding>>()

/** Returns an encoding that all requests share, so it must not depend on the first request. */
export function tableRowEncodingOf(resource: Resource, options: TableOptions): TableRowEncoding {
  const kindEncodings = encodings.get(resource) ?? new Map<string, TableRowEncoding>()
  encodings.set(resource, kindEncodings)
  const key = `${options.version} ${options.includeObject} ${options.identity.name}`
  const found = kindEncodings.get(key)
  if (found !== undefined) return found
  const encoding = createTableRowEncoding(resource, withoutRequest(options))
  kindEncodings.set(key, encoding)
  return encoding
}

/** Drops the request from the options: it would keep connection, body and catalog alive. */
function withoutRequest({ identity, version, includeObject, rules }: TableOptions): TableOptions {
  const serverContext = { identity: rules.identity, gates: rules.gates, version: rules.version }
  return { identity, version, includeObject, rules: { ...serverContext, user: anonymous, now: deferAges } }
}

function createTableRowEncoding(resource: Resource, options: TableOptions): TableRowEncoding {
  const table = tableEncodingOf({ ...resource, table: resource.definition.table }, options)
  return {
    resource,
    choice: { format: 'json', as: { kind: 'Table', version: options.version }, includeObject: options.includeObject },
    table,
    separator: comma,
    order: resource.definition.table?.order,
    item: (object: ApiObject) => encodeText(tableRow(table, object, writeCells)),
    list: (metadata, rows, now) => tableList(table, { metadata, rows, now }),
  }
}

const encoder = new TextEncoder()

/** Placeholder: a control character, which JSON escapes, then milliseconds padded beyond any age. */
const placeholderStart = 0x01
const placeholderBytes = 24

const writeCells = (cells: readonly unknown[]): string => `[${cells.map(writeCell).join(',')}]`

function writeCell(cell: unknown): string {
  if (typeof cell !== 'string') return writeAny(cell)
  const [start = '', ...rest] = splitAtAges(cell)
  if (rest.length === 0) return writeText(start)
  const parts = rest.map((part, i) => (i % 2 === 0 ? placeholderFor(part) : writeText(part).slice(1, -1)))
  return `${writeText(start).slice(0, -1)}${parts.join('')}"`
}

function placeholderFor(timestamp: string): string {
  const time = Date.parse(timestamp)
  return Number.isNaN(time) ? humanDuration(time) : `\x01${String(time).padEnd(placeholderBytes - 1)}`
}

export function fillAges(rows: Uint8Array, now: number): Uint8Array {
  let placeholder = rows.indexOf(placeholderStart)
  if (placeholder < 0) return rows
  const filled = new Uint8Array(rows.length)
  let from = 0
  let at = 0
  let [time, age] = [Number.NaN, '']
  while (placeholder >= 0) {
    filled.set(rows.subarray(from, placeholder), at)
    at += placeholder - from
    const found = numberAt(rows, placeholder + 1)
    // Neighbouring rows often have the same timestamp.
    if (found !== time) [time, age] = [found, humanDuration(now - found)]
    for (let i = 0; i < age.length; i++) filled[at++] = age.charCodeAt(i)
    from = placeholder + placeholderBytes
    placeholder = rows.indexOf(placeholderStart, from)
  }
  filled.set(rows.subarray(from), at)
  return filled.subarray(0, at + rows.length - from)
}

const minus = 0x2d
const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39

function numberAt(bytes: Uint8Array, from: number): number {
  const isNegative = bytes[from] === minus
  let value = 0
  for (let i = isNegative ? from + 1 : from; isDigit(bytes[i] as number); i++) value = value * 10 + (bytes[i] as number) - 0x30
  return isNegative ? -value : value
}

async function* tableList(
  table: TableEncoding,
  { metadata, rows, now }: { readonly metadata: ListMeta; readonly rows: EncodedItems; readonly now: number },
): AsyncGenerator<Uint8Array> {
  const head = tableHead(table, { metadata })
  if ((await rows.measure(0)) === 0) {
    yield encoder.encode(`${head}${table.noRows}}\n`)
    return
  }
  yield encoder.encode(`${head}[`)
  for await (const slice of rows) yield fillAges(slice, now)
  yield encoder.encode(']}\n')
}

/** Cache key of watch frames with tables: ages change once per second. */
export function frameKey(encoding: TableRowEncoding, now: number, withoutColumns: boolean): object {
  const second = Math.floor(now / 1000)
  let keys = frameKeys.get(encoding)
  if (keys?.second !== second) {
    keys = { second, first: {}, later: {} }
    frameKeys.set(encoding, keys)
  }
  return withoutColumns ? keys.later : keys.first
}

interface FrameKeys {
  readonly second: number
  readonly first: object
  readonly later: object
}

const frameKeys = new WeakMap<TableRowEncoding, FrameKeys>()

export function tableFrame(
  { table }: TableRowEncoding,
  event: {
    readonly type: string
    readonly resourceVersion: string
    readonly row: Uint8Array
    readonly now: number
    readonly withoutColumns: boolean
  },
): Uint8Array {
  const { resourceVersion, withoutColumns } = event
  const head = `{"type":"${event.type}","object":${tableHead(table, { metadata: { resourceVersion }, withoutColumns })}[`
  return concatenate(head, fillAges(event.row, event.now), ']}}\n')
}

export function tableOfRow(
  { table }: TableRowEncoding,
  { resourceVersion, row, now }: { readonly resourceVersion: string; readonly row: Uint8Array; readonly now: number },
): Uint8Array {
  return concatenate(`${tableHead(table, { metadata: { resourceVersion } })}[`, fillAges(row, now), ']}')
}

function concatenate(head: string, row: Uint8Array, end: string): Uint8Array {
  const headBytes = encoder.encode(head)
  const joined = new Uint8Array(headBytes.length + row.length + end.length)
  joined.set(headBytes)
  joined.set(row, headBytes.length)
  joined.set(encoder.encode(end), headBytes.length + row.length)
  return joined
}
