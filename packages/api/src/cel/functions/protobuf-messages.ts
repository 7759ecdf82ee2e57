// Protobuf messages that CEL expressions can construct: Timestamp and Duration.

import { durationType, type Type, timestampType } from '../types/types.js'
import type { Value } from '../values/values.js'
import { durationOf, timestampOf } from './arithmetic.js'

export interface Message {
  readonly type: Type
  readonly fields: readonly string[]
  make(fields: { readonly [name: string]: bigint }): Value
}

const nanosPerSecond = 1_000_000_000n
const fields = ['seconds', 'nanos']
const totalNanos = ({ seconds = 0n, nanos = 0n }: { readonly [name: string]: bigint }): bigint => seconds * nanosPerSecond + nanos

const messages: ReadonlyMap<string, Message> = new Map([
  ['google.protobuf.Timestamp', { type: timestampType, fields, make: (values) => timestampOf(totalNanos(values)) }],
  ['google.protobuf.Duration', { type: durationType, fields, make: (values) => durationOf(totalNanos(values)) }],
])

export const messageNamed = (name: string): Message | undefined => messages.get(name.startsWith('.') ? name.slice(1) : name)
