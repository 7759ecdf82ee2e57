// etcd's requests and answers as values, for the calls that are used here. Field numbers are those of etcd's published interface.
//
// Messages are written from their end to their beginning, so the last field comes first.

import { enter, leave, type ProtoReader, readerOf, readRaw, readVarint, skipField, wireTypes } from '../../base/protobuf-reader.js'
import { collectBytes, type ProtoWriter, writeInteger, writeRaw, writeText, writeUint, writtenBytes } from '../../base/protobuf-writer.js'

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
  /** How large its database is on the disk. */
  readonly dbBytes: number
}

export function encodeRange(request: RangeRequest): Buffer {
  return encode((writer) => writeRange(writer, request))
}

export function decodeRange(bytes: Buffer): RangeAnswer {
  return readRange(readerOf(bytes))
}

/** `expectedBytes`: about as many as it will have. */
export function encodeTxn(txn: Txn, expectedBytes: number): Buffer {
  return encode((writer) => writeTxn(writer, txn), expectedBytes)
}

export function decodeTxn(bytes: Buffer): TxnAnswer {
  return readTxn(readerOf(bytes))
}

export function encodeCompact(revision: number): Buffer {
  return encode((writer) => writeNumber(writer, 1, revision))
}

export function encodeLeaseGrant(seconds: number): Buffer {
  return encode((writer) => writeNumber(writer, 1, seconds))
}

export function decodeLeaseGrant(bytes: Buffer): bigint {
  const reader = readerOf(bytes)
  let id = 0n
  for (let tag = nextTag(reader); tag !== 0; tag = nextTag(reader)) {
    if (tag === varint(2)) id = BigInt(readVarint(reader))
    else skipField(reader, tag & 7)
  }
  return id
}

export function encodeAuthenticate(name: string, password: string): Buffer {
  return encode((writer) => {
    writeString(writer, 2, password)
    writeString(writer, 1, name)
  })
}

/** The token. */
export function decodeAuthenticate(bytes: Buffer): string {
  const reader = readerOf(bytes)
  let token = ''
  for (let tag = nextTag(reader); tag !== 0; tag = nextTag(reader)) {
    if (tag === delimited(2)) token = readBytes(reader).toString()
    else skipField(reader, tag & 7)
  }
  return token
}

export function decodeStatus(bytes: Buffer): MemberStatus {
  const reader = readerOf(bytes)
  let header = { clusterId: '', memberId: 0n }
  let version = ''
  let leader = 0n
  let dbBytes = 0
  for (let tag = nextTag(reader); tag !== 0; tag = nextTag(reader)) {
    if (tag === delimited(1)) header = nested(reader, readIds)
    else if (tag === delimited(2)) version = readBytes(reader).toString()
    else if (tag === varint(3)) dbBytes = Number(readVarint(reader))
    else if (tag === varint(4)) leader = BigInt(readVarint(reader))
    else skipField(reader, tag & 7)
  }
  return { clusterId: header.clusterId, version, hasLeader: leader !== 0n, isLeader: leader === header.memberId, dbBytes }
}

export interface WatchRequest {
  readonly key: string
  readonly end: string
  readonly startRevision: number
  readonly deletionsOnly?: boolean
}

export function encodeWatch({ key, end, startRevision, deletionsOnly }: WatchRequest): Buffer {
  return encode((writer) => {
    // Large answers in fragments; and a sign of life with the revision reached, now and then, when nothing changes.
    writeNumber(writer, 8, 1)
    // A filter: no puts.
    if (deletionsOnly) writeNumber(writer, 5, 0)
    writeNumber(writer, 4, 1)
    writeNumber(writer, 3, startRevision)
    writeString(writer, 2, end)
    writeString(writer, 1, key)
    wrap(writer, 1, 0)
  })
}

/** The events of an answer that brings nothing beyond a revision are left out. */
export function decodeWatch(bytes: Buffer, knownRevision: number): WatchAnswer {
  const reader = readerOf(bytes)
  const events: WatchEvent[] = []
  const answer = { revision: 0, isCreated: false, isCanceled: false, compactRevision: 0, cancelReason: '', isFragment: false, events }
  for (let tag = nextTag(reader); tag !== 0; tag = nextTag(reader)) {
    // The header comes first, and no event is newer than what it says.
    if (tag === delimited(11) && (answer.revision === 0 || answer.revision > knownRevision)) events.push(nested(reader, readEvent))
    else if (tag === delimited(1)) answer.revision = nested(reader, readRevision)
    else if (tag === varint(3)) answer.isCreated = readNumber(reader) !== 0
    else if (tag === varint(4)) answer.isCanceled = readNumber(reader) !== 0
    else if (tag === varint(5)) answer.compactRevision = readNumber(reader)
    else if (tag === delimited(6)) answer.cancelReason = readBytes(reader).toString()
    else if (tag === varint(7)) answer.isFragment = readNumber(reader) !== 0
    else skipField(reader, tag & 7)
  }
  return answer
}

function writeRange(writer: ProtoWriter, { key, end, limit, revision, keysOnly }: RangeRequest): void {
  if (keysOnly) writeNumber(writer, 8, 1)
  if (revision !== undefined) writeNumber(writer, 4, revision)
  if (limit !== undefined) writeNumber(writer, 3, limit)
  if (end !== undefined) writeString(writer, 2, end)
  writeString(writer, 1, key)
}

function readRange(reader: ProtoReader): RangeAnswer {
  const items: KeyValue[] = []
  let revision = 0
  let more = false
  for (let tag = nextTag(reader); tag !== 0; tag = nextTag(reader)) {
    if (tag === delimited(2)) items.push(nested(reader, readKeyValue))
    else if (tag === delimited(1)) revision = nested(reader, readRevision)
    else if (tag === varint(3)) more = readNumber(reader) !== 0
    else skipField(reader, tag & 7)
  }
  return { revision, items, more }
}

function writeTxn(writer: ProtoWriter, { compare, success, failure }: Txn): void {
  for (const operation of failure.toReversed()) writeOperation(writer, 3, operation)
  for (const operation of success.toReversed()) writeOperation(writer, 2, operation)
  for (const { key, modRevision } of compare.toReversed()) {
    const mark = writtenBytes(writer)
    writeNumber(writer, 6, modRevision)
    writeString(writer, 3, key)
    // The target is the modification revision, the result (left out) equality.
    writeNumber(writer, 2, 2)
    wrap(writer, 1, mark)
  }
}

const operationFields = { range: 1, put: 2, delete: 3, txn: 4 } as const

function writeOperation(writer: ProtoWriter, field: number, operation: Operation): void {
  const mark = writtenBytes(writer)
  if (operation.kind === 'put') {
    if (operation.lease !== undefined) writeNumber(writer, 3, operation.lease)
    const { value } = operation
    const valueMark = writtenBytes(writer)
    for (let i = value.length - 1; i >= 0; i--) writeRaw(writer, value[i] as Uint8Array)
    wrap(writer, 2, valueMark)
    writeString(writer, 1, operation.key)
  } else if (operation.kind === 'delete') writeString(writer, 1, operation.key)
  else if (operation.kind === 'range') writeRange(writer, operation.request)
  else writeTxn(writer, operation.txn)
  wrap(writer, operationFields[operation.kind], mark)
  wrap(writer, field, mark)
}

function readTxn(reader: ProtoReader): TxnAnswer {
  const answers: { range?: RangeAnswer; txn?: TxnAnswer }[] = []
  let revision = 0
  let succeeded = false
  for (let tag = nextTag(reader); tag !== 0; tag = nextTag(reader)) {
    if (tag === delimited(3)) answers.push(nested(reader, readAnswer))
    else if (tag === delimited(1)) revision = nested(reader, readRevision)
    else if (tag === varint(2)) succeeded = readNumber(reader) !== 0
    else skipField(reader, tag & 7)
  }
  return { revision, succeeded, answers }
}

function readAnswer(reader: ProtoReader): { range?: RangeAnswer; txn?: TxnAnswer } {
  const answer: { range?: RangeAnswer; txn?: TxnAnswer } = {}
  for (let tag = nextTag(reader); tag !== 0; tag = nextTag(reader)) {
    if (tag === delimited(operationFields.range)) answer.range = nested(reader, readRange)
    else if (tag === delimited(operationFields.txn)) answer.txn = nested(reader, readTxn)
    else skipField(reader, tag & 7)
  }
  return answer
}

function readEvent(reader: ProtoReader): WatchEvent {
  let isDelete = false
  let item: KeyValue | undefined
  for (let tag = nextTag(reader); tag !== 0; tag = nextTag(reader)) {
    if (tag === varint(1)) isDelete = readNumber(reader) !== 0
    else if (tag === delimited(2)) item = nested(reader, readKeyValue)
    else skipField(reader, tag & 7)
  }
  return { isDelete, ...(item ?? { key: nothing, value: nothing, modRevision: 0 }) }
}

const nothing = Buffer.alloc(0)

function readKeyValue(reader: ProtoReader): KeyValue {
  let key: Buffer = nothing
  let value: Buffer = nothing
  let modRevision = 0
  for (let tag = nextTag(reader); tag !== 0; tag = nextTag(reader)) {
    if (tag === delimited(1)) key = readBytes(reader)
    else if (tag === varint(3)) modRevision = readNumber(reader)
    else if (tag === delimited(5)) value = readBytes(reader)
    else skipField(reader, tag & 7)
  }
  return { key, value, modRevision }
}

function readRevision(header: ProtoReader): number {
  let revision = 0
  for (let tag = nextTag(header); tag !== 0; tag = nextTag(header)) {
    if (tag === varint(3)) revision = readNumber(header)
    else skipField(header, tag & 7)
  }
  return revision
}

function readIds(header: ProtoReader): { clusterId: string; memberId: bigint } {
  let clusterId = ''
  let memberId = 0n
  for (let tag = nextTag(header); tag !== 0; tag = nextTag(header)) {
    if (tag === varint(1)) clusterId = BigInt(readVarint(header)).toString(16)
    else if (tag === varint(2)) memberId = BigInt(readVarint(header))
    else skipField(header, tag & 7)
  }
  return { clusterId, memberId }
}

const varint = (field: number): number => field * 8 + wireTypes.varint
const delimited = (field: number): number => field * 8 + wireTypes.delimited

function encode(write: (writer: ProtoWriter) => void, expectedBytes?: number): Buffer {
  const { buffer, byteOffset, length } = collectBytes(write, expectedBytes)
  return Buffer.from(buffer, byteOffset, length)
}

function writeNumber(writer: ProtoWriter, field: number, value: number | bigint): void {
  writeInteger(writer, value)
  writeUint(writer, varint(field))
}

function writeString(writer: ProtoWriter, field: number, text: string): void {
  const mark = writtenBytes(writer)
  writeText(writer, text)
  wrap(writer, field, mark)
}

/** Makes what was written since the mark one field. */
function wrap(writer: ProtoWriter, field: number, mark: number): void {
  writeUint(writer, writtenBytes(writer) - mark)
  writeUint(writer, delimited(field))
}

/** 0 at the end of the message at hand. */
const nextTag = (reader: ProtoReader): number => (reader.at < reader.end ? readNumber(reader) : 0)

const readNumber = (reader: ProtoReader): number => Number(readVarint(reader))

/** A view, not a copy. What views of a Buffer are, Buffers, the type does not say. */
const readBytes = (reader: ProtoReader): Buffer => readRaw(reader) as Buffer

function nested<T>(reader: ProtoReader, read: (reader: ProtoReader) => T): T {
  const outerEnd = enter(reader)
  const value = read(reader)
  leave(reader, outerEnd)
  return value
}
