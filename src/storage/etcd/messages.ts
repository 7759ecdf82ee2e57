// etcd's requests and answers as values, for the calls that are used here. Field numbers are those of etcd's published interface.

import { createMessageReader, createMessageWriter, type MessageReader, type MessageWriter } from './protobuf.js'

export const methods = {
  range: '/etcdserverpb.KV/Range',
  txn: '/etcdserverpb.KV/Txn',
  compact: '/etcdserverpb.KV/Compact',
  watch: '/etcdserverpb.Watch/Watch',
  leaseGrant: '/etcdserverpb.Lease/LeaseGrant',
  authenticate: '/etcdserverpb.Auth/Authenticate',
  status: '/etcdserverpb.Maintenance/Status',
} as const

export interface RangeRequest {
  readonly key: string
  /** Left out: the key alone. */
  readonly end?: string
  readonly limit?: number
  /** Left out: the newest state, asked of the leader. */
  readonly revision?: number
  readonly keysOnly?: boolean
}

/** Views into the answer, not copies. */
export interface KeyValue {
  readonly key: Buffer
  readonly value: Buffer
  readonly modRevision: number
}

export interface RangeAnswer {
  readonly revision: number
  readonly items: readonly KeyValue[]
  readonly more: boolean
}

/** A condition on the revision that wrote a key last; 0: the key is absent. */
export interface Comparison {
  readonly key: string
  readonly modRevision: number
}

export type Operation =
  | { readonly kind: 'put'; readonly key: string; readonly value: readonly Uint8Array[]; readonly lease?: bigint }
  | { readonly kind: 'delete'; readonly key: string }
  | { readonly kind: 'range'; readonly request: RangeRequest }
  | { readonly kind: 'txn'; readonly txn: Txn }

export interface Txn {
  readonly compare: readonly Comparison[]
  readonly success: readonly Operation[]
  readonly failure: readonly Operation[]
}

export interface TxnAnswer {
  readonly revision: number
  readonly succeeded: boolean
  /** One for each operation; what a put or a delete answers is of no interest here. */
  readonly answers: readonly { readonly range?: RangeAnswer; readonly txn?: TxnAnswer }[]
}

export interface WatchEvent extends KeyValue {
  readonly isDelete: boolean
}

export interface WatchAnswer {
  readonly revision: number
  readonly isCreated: boolean
  readonly isCanceled: boolean
  /** Not 0: the watch asked for history that is gone, up to this revision. */
  readonly compactRevision: number
  readonly cancelReason: string
  /** More events, possibly of the last one's revision, follow in the next answer. */
  readonly isFragment: boolean
  readonly events: readonly WatchEvent[]
}

export interface MemberStatus {
  readonly clusterId: string
  readonly version: string
  readonly hasLeader: boolean
  readonly isLeader: boolean
}

export function encodeRange(request: RangeRequest): Buffer {
  const writer = createMessageWriter()
  writeRange(writer, request)
  return writer.finish()
}

export function decodeRange(bytes: Buffer): RangeAnswer {
  return readRange(createMessageReader(bytes))
}

export function encodeTxn(txn: Txn, capacity: number): Buffer {
  const writer = createMessageWriter(capacity)
  writeTxn(writer, txn)
  return writer.finish()
}

export function decodeTxn(bytes: Buffer): TxnAnswer {
  return readTxn(createMessageReader(bytes))
}

export function encodeCompact(revision: number): Buffer {
  const writer = createMessageWriter()
  writer.number(1, revision)
  return writer.finish()
}

export function encodeLeaseGrant(seconds: number): Buffer {
  const writer = createMessageWriter()
  writer.number(1, seconds)
  return writer.finish()
}

export function decodeLeaseGrant(bytes: Buffer): bigint {
  const reader = createMessageReader(bytes)
  let id = 0n
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 2) id = reader.big()
    else reader.skip()
  }
  return id
}

export function encodeAuthenticate(name: string, password: string): Buffer {
  const writer = createMessageWriter()
  writer.text(2, password)
  writer.text(1, name)
  return writer.finish()
}

/** The token. */
export function decodeAuthenticate(bytes: Buffer): string {
  const reader = createMessageReader(bytes)
  let token = ''
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 2) token = reader.bytes().toString()
    else reader.skip()
  }
  return token
}

export function decodeStatus(bytes: Buffer): MemberStatus {
  const reader = createMessageReader(bytes)
  let header = { clusterId: '', memberId: 0n }
  let version = ''
  let leader = 0n
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) header = readIds(reader.message())
    else if (field === 2) version = reader.bytes().toString()
    else if (field === 4) leader = reader.big()
    else reader.skip()
  }
  return { clusterId: header.clusterId, version, hasLeader: leader !== 0n, isLeader: leader === header.memberId }
}

export interface WatchRequest {
  readonly key: string
  readonly end: string
  readonly startRevision: number
}

export function encodeWatch({ key, end, startRevision }: WatchRequest): Buffer {
  const writer = createMessageWriter()
  // Large answers in fragments; and a sign of life with the revision reached, now and then, when nothing changes.
  writer.number(8, 1)
  writer.number(4, 1)
  writer.number(3, startRevision)
  writer.text(2, end)
  writer.text(1, key)
  writer.message(1, 0)
  return writer.finish()
}

export function decodeWatch(bytes: Buffer): WatchAnswer {
  const reader = createMessageReader(bytes)
  const events: WatchEvent[] = []
  const answer = { revision: 0, isCreated: false, isCanceled: false, compactRevision: 0, cancelReason: '', isFragment: false, events }
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) answer.revision = readRevision(reader.message())
    else if (field === 3) answer.isCreated = reader.number() !== 0
    else if (field === 4) answer.isCanceled = reader.number() !== 0
    else if (field === 5) answer.compactRevision = reader.number()
    else if (field === 6) answer.cancelReason = reader.bytes().toString()
    else if (field === 7) answer.isFragment = reader.number() !== 0
    else if (field === 11) events.push(readEvent(reader.message()))
    else reader.skip()
  }
  return answer
}

function writeRange(writer: MessageWriter, { key, end, limit, revision, keysOnly }: RangeRequest): void {
  if (keysOnly) writer.number(8, 1)
  if (revision !== undefined) writer.number(4, revision)
  if (limit !== undefined) writer.number(3, limit)
  if (end !== undefined) writer.text(2, end)
  writer.text(1, key)
}

function readRange(reader: MessageReader): RangeAnswer {
  const items: KeyValue[] = []
  let revision = 0
  let more = false
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) revision = readRevision(reader.message())
    else if (field === 2) items.push(readKeyValue(reader.message()))
    else if (field === 3) more = reader.number() !== 0
    else reader.skip()
  }
  return { revision, items, more }
}

function writeTxn(writer: MessageWriter, { compare, success, failure }: Txn): void {
  for (const operation of failure.toReversed()) writeOperation(writer, 3, operation)
  for (const operation of success.toReversed()) writeOperation(writer, 2, operation)
  for (const { key, modRevision } of compare.toReversed()) {
    const mark = writer.length
    writer.number(6, modRevision)
    writer.text(3, key)
    // The target is the modification revision, the result (left out) equality.
    writer.number(2, 2)
    writer.message(1, mark)
  }
}

const operationFields = { range: 1, put: 2, delete: 3, txn: 4 } as const

function writeOperation(writer: MessageWriter, field: number, operation: Operation): void {
  const mark = writer.length
  if (operation.kind === 'put') {
    if (operation.lease !== undefined) writer.number(3, operation.lease)
    writer.bytes(2, ...operation.value)
    writer.text(1, operation.key)
  } else if (operation.kind === 'delete') writer.text(1, operation.key)
  else if (operation.kind === 'range') writeRange(writer, operation.request)
  else writeTxn(writer, operation.txn)
  writer.message(operationFields[operation.kind], mark)
  writer.message(field, mark)
}

function readTxn(reader: MessageReader): TxnAnswer {
  const answers: { range?: RangeAnswer; txn?: TxnAnswer }[] = []
  let revision = 0
  let succeeded = false
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) revision = readRevision(reader.message())
    else if (field === 2) succeeded = reader.number() !== 0
    else if (field === 3) answers.push(readAnswer(reader.message()))
    else reader.skip()
  }
  return { revision, succeeded, answers }
}

function readAnswer(reader: MessageReader): { range?: RangeAnswer; txn?: TxnAnswer } {
  const field = reader.next()
  if (field === operationFields.range) return { range: readRange(reader.message()) }
  if (field === operationFields.txn) return { txn: readTxn(reader.message()) }
  return {}
}

function readEvent(reader: MessageReader): WatchEvent {
  let isDelete = false
  let item: KeyValue | undefined
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) isDelete = reader.number() !== 0
    else if (field === 2) item = readKeyValue(reader.message())
    else reader.skip()
  }
  return { isDelete, ...(item ?? { key: nothing, value: nothing, modRevision: 0 }) }
}

const nothing = Buffer.alloc(0)

function readKeyValue(reader: MessageReader): KeyValue {
  let key: Buffer = nothing
  let value: Buffer = nothing
  let modRevision = 0
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) key = reader.bytes()
    else if (field === 3) modRevision = reader.number()
    else if (field === 5) value = reader.bytes()
    else reader.skip()
  }
  return { key, value, modRevision }
}

function readRevision(header: MessageReader): number {
  for (let field = header.next(); field !== 0; field = header.next()) {
    if (field === 3) return header.number()
    header.skip()
  }
  return 0
}

function readIds(header: MessageReader): { clusterId: string; memberId: bigint } {
  let clusterId = ''
  let memberId = 0n
  for (let field = header.next(); field !== 0; field = header.next()) {
    if (field === 1) clusterId = header.big().toString(16)
    else if (field === 2) memberId = header.big()
    else header.skip()
  }
  return { clusterId, memberId }
}
