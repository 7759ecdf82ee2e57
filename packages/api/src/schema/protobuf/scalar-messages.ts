// Protobuf messages of values that are scalars or unstructured in JSON: times, quantities, IntOrString, RawExtension.

import { printDuration } from '../../base/duration.js'
import { errorMessage } from '../../base/error-message.js'
import { ProtobufReadError } from '../../base/protobuf/protobuf-reader.js'
import * as s from '../node.js'
import { parseQuantity, printQuantity, QuantityError } from '../quantity.js'
import { isInRange, printTimestamp } from './timestamp.js'

export type ParseJson = (text: string) => unknown

type Members = { readonly [name: string]: unknown }

/** Message whose JSON is a scalar or unstructured value. */
export interface MessageView {
  readonly message: s.StructNode
  readonly value: (members: Members, parseJson: ParseJson) => unknown
  readonly zero: unknown
}

type ViewedNode = s.TimeNode | s.DurationNode | s.QuantityNode | s.IntOrStringNode | s.AnyNode

export function viewOf(node: ViewedNode): MessageView {
  switch (node.type) {
    case 'time':
      return { message: timestamp, value: (members) => timeOf(members, node.micro), zero: null }
    case 'duration':
      return { message: duration, value: ({ nanoseconds = 0 }) => printDuration(BigInt(nanoseconds as number | bigint)), zero: '0s' }
    case 'quantity':
      return { message: quantity, value: ({ text }) => quantityOf(text as string | undefined), zero: '0' }
    case 'intOrString':
      return { message: intOrString, value: ({ isText, number = 0, text = '' }) => (isText === 1 ? text : number), zero: 0 }
    case 'any':
      return viewOfAny(node)
  }
}

const pointer = { pointer: true }
const timestamp = s.struct('Timestamp', { seconds: s.field(1, s.int64, pointer), nanos: s.field(2, s.int32, pointer) })
const duration = s.struct('Duration', { nanoseconds: s.field(1, s.int64) })
const quantity = s.struct('Quantity', { text: s.field(1, s.string, pointer) })
const intOrString = s.struct('IntOrString', { isText: s.field(1, s.int64), number: s.field(2, s.int32), text: s.field(3, s.string) })
const raw = s.struct('RawExtension', { json: s.field(1, s.string) })
const unknown = s.struct('Unknown', { json: s.field(2, s.string) })

/** An empty message is no time; explicit zeros are 1970. */
function timeOf(members: Members, micro: boolean): string | undefined {
  const { seconds, nanos } = members as { readonly seconds?: number | bigint; readonly nanos?: number }
  if (seconds === undefined && nanos === undefined) return undefined
  const time = { seconds: Number(seconds ?? 0), nanos: nanos ?? 0 }
  if (!isInRange(time)) throw new ProtobufReadError(`a time of ${seconds} seconds and ${nanos} nanoseconds is out of range`)
  return printTimestamp(time, micro)
}

function quantityOf(text: string | undefined): string {
  try {
    return text === undefined ? '0' : printQuantity(parseQuantity(text))
  } catch (thrown) {
    throw thrown instanceof QuantityError ? new ProtobufReadError(thrown.message) : thrown
  }
}

function viewOfAny({ form, schema }: s.AnyNode): MessageView {
  switch (form) {
    case 'raw':
    case 'json':
    case 'fields':
      return { message: raw, value: jsonOf, zero: null }
    case 'unknown':
      return { message: unknown, value: jsonOf, zero: null }
    default:
      if (schema === undefined) throw new Error(`a union of JSON schemas (${form}) without its schema`)
      return viewOfUnion(form, schema)
  }
}

function jsonOf({ json }: Members, parseJson: ParseJson): unknown {
  if (json === undefined) return undefined
  try {
    return parseJson(json as string)
  } catch (thrown) {
    throw new ProtobufReadError(`JSON inside the message cannot be read: ${errorMessage(thrown)}`)
  }
}

function viewOfUnion(form: 'schemaOrArray' | 'schemaOrBool' | 'schemaOrStrings', schema: s.LazyNode): MessageView {
  if (form === 'schemaOrBool') {
    const message = s.struct(form, { allows: s.field(1, s.boolean), schema: s.field(2, schema, pointer) })
    return { message, value: (members) => members['schema'] ?? members['allows'] === true, zero: false }
  }
  const message = s.struct(form, {
    schema: s.field(1, schema, pointer),
    list: s.field(2, s.list(form === 'schemaOrArray' ? schema : s.string)),
  })
  return { message, value: (members) => members['list'] ?? members['schema'], zero: null }
}

export const wrapped = ({ item }: s.ListNode): s.StructNode => s.struct('List', { items: s.field(1, s.list(item)) })
