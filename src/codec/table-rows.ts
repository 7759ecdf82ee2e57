// Rows of tables that are kept: made once for every version of an object, with room where an age belongs, which is filled in when the
// row is sent.

import type { Resource } from '../api/catalog.js'
import { agesLater, humanDuration, splitAtAges } from '../api/human-duration.js'
import type { ListMeta } from '../api/meta.schema.js'
import type { ApiObject } from '../api/object.js'
import { anonymous } from '../api/user.js'
import { encodeText } from '../base/encode-text.js'
import { type Promised, whenThere } from '../base/promised.js'
import { writeAny, writeText } from '../schema/write.js'
import { comma, type ItemSlices, type ListForm, onePiece, type Pieces, piecesAround } from './item-form.js'
import { type TableForm, type TableWish, tableFormOf, tableHead, tableRow } from './table.js'

/** The rows of a kind's table in one form. */
export interface RowForm extends ListForm {
  readonly table: TableForm
}

const forms = new WeakMap<Resource, Map<string, RowForm>>()

/** The one value for this table of this kind. It is for everybody: whose request is the first to want it must not show. */
export function rowFormOf(resource: Resource, wish: TableWish): RowForm {
  const known = forms.get(resource) ?? new Map<string, RowForm>()
  forms.set(resource, known)
  const key = `${wish.version} ${wish.includeObject} ${wish.identity.name}`
  const found = known.get(key)
  if (found !== undefined) return found
  const form = makeRowForm(resource, forEverybody(wish))
  known.set(key, form)
  return form
}

/** Without the request: with it would be kept its connection, its body, and the catalogue of its time with every kind that was defined then. */
function forEverybody({ identity, version, includeObject, rules }: TableWish): TableWish {
  const ofServer = { identity: rules.identity, gates: rules.gates, version: rules.version }
  return { identity, version, includeObject, rules: { ...ofServer, user: anonymous, now: agesLater } }
}

function makeRowForm(resource: Resource, wish: TableWish): RowForm {
  const table = tableFormOf({ ...resource, table: resource.definition.table }, wish)
  return {
    resource,
    wish: { format: 'json', as: { kind: 'Table', version: wish.version }, includeObject: wish.includeObject },
    table,
    separator: comma,
    order: resource.definition.table?.order,
    item: (object: ApiObject) => encodeText(tableRow(table, object, writeCells)),
    list: (metadata, rows, now) => tablePieces(table, { metadata, rows, now }),
  }
}

const encoder = new TextEncoder()

/** A byte that JSON never has, for it escapes it; then a time in milliseconds, with blanks up to a length that no age has. */
const holeStart = 0x01
const holeLength = 24

const writeCells = (cells: readonly unknown[]): string => `[${cells.map(writeCell).join(',')}]`

function writeCell(cell: unknown): string {
  if (typeof cell !== 'string') return writeAny(cell)
  const [known = '', ...rest] = splitAtAges(cell)
  if (rest.length === 0) return writeText(known)
  const parts = rest.map((part, i) => (i % 2 === 0 ? holeFor(part) : writeText(part).slice(1, -1)))
  return `${writeText(known).slice(0, -1)}${parts.join('')}"`
}

/** What is no time has an age that does not change. */
function holeFor(timestamp: string): string {
  const time = Date.parse(timestamp)
  return Number.isNaN(time) ? humanDuration(time) : `\x01${String(time).padEnd(holeLength - 1)}`
}

/** Rows with the ages that they have now. */
export function fillAges(rows: Uint8Array, now: number): Uint8Array {
  let hole = rows.indexOf(holeStart)
  if (hole < 0) return rows
  const filled = new Uint8Array(rows.length)
  let from = 0
  let at = 0
  let [time, age] = [Number.NaN, '']
  while (hole >= 0) {
    filled.set(rows.subarray(from, hole), at)
    at += hole - from
    const found = numberAt(rows, hole + 1)
    // Neighbours often came at the same time.
    if (found !== time) [time, age] = [found, humanDuration(now - found)]
    for (let i = 0; i < age.length; i++) filled[at++] = age.charCodeAt(i)
    from = hole + holeLength
    hole = rows.indexOf(holeStart, from)
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

/** A page of a table, in pieces. What stands for no rows depends on the kind, so the first is looked for before anything is said. */
function tablePieces(
  table: TableForm,
  { metadata, rows, now }: { readonly metadata: ListMeta; readonly rows: ItemSlices; readonly now: number },
): Promised<Pieces> {
  const head = tableHead(table, { metadata })
  const fill = (piece: Uint8Array | undefined): Uint8Array | undefined => piece && fillAges(piece, now)
  return whenThere(rows.measure(0), (bytes) =>
    bytes === 0
      ? onePiece(encoder.encode(`${head}${table.noRows}}\n`))
      : piecesAround(encoder.encode(`${head}[`), () => whenThere(rows.next(), fill), encoder.encode(']}\n')),
  )
}

/**
 * What frames that are made now are shared under. Ages are counted in whole seconds, and so are the times that they are counted from, but for
 * a few; within a second all watchers see the same.
 */
export function frameKey(form: RowForm, now: number, withoutColumns: boolean): object {
  const second = Math.floor(now / 1000)
  let keys = frameKeys.get(form)
  if (keys?.second !== second) {
    keys = { second, first: {}, later: {} }
    frameKeys.set(form, keys)
  }
  return withoutColumns ? keys.later : keys.first
}

interface FrameKeys {
  readonly second: number
  readonly first: object
  readonly later: object
}

const frameKeys = new WeakMap<RowForm, FrameKeys>()

/** The table with one row that tells of an event. */
export function tableFrame(
  { table }: RowForm,
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
  return around(head, fillAges(event.row, event.now), ']}}\n')
}

/** The table with the one row of an object that was read. */
export function tableOfRow(
  { table }: RowForm,
  { resourceVersion, row, now }: { readonly resourceVersion: string; readonly row: Uint8Array; readonly now: number },
): Uint8Array {
  return around(`${tableHead(table, { metadata: { resourceVersion } })}[`, fillAges(row, now), ']}')
}

function around(head: string, row: Uint8Array, end: string): Uint8Array {
  const before = encoder.encode(head)
  const whole = new Uint8Array(before.length + row.length + end.length)
  whole.set(before)
  whole.set(row, before.length)
  whole.set(encoder.encode(end), before.length + row.length)
  return whole
}
