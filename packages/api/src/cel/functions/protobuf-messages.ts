// Messages of Protocol Buffers that an expression can write down: a time and a length of time, by their parts.

import { durationOf, timestampOf } from './functions/arithmetic.js'
import { durationType, type Type, timestampType } from './types.js'
import type { Value } from './values.js'

export interface Message {
  readonly type: Type
  /** Whole numbers, all of them; what is left out is zero. */
  readonly fields: readonly string[]
  make(fields: { readonly [name: string]: bigint }): Value
}

const second = 1_000_000_000n
const fields = ['seconds', 'nanos']
const nanosIn = ({ seconds = 0n, nanos = 0n }: { readonly [name: string]: bigint }): bigint => seconds * second + nanos

const messages: ReadonlyMap<string, Message> = new Map([
  ['google.protobuf.Timestamp', { type: timestampType, fields, make: (given) => timestampOf(nanosIn(given)) }],
  ['google.protobuf.Duration', { type: durationType, fields, make: (given) => durationOf(nanosIn(given)) }],
])

export const messageNamed = (name: string): Message | undefined => messages.get(name.startsWith('.') ? name.slice(1) : name)
